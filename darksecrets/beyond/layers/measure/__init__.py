"""States of words, and what probes, trees and geometry find in them."""
