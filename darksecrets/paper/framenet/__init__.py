"""Section 4.2: do heads attend along frame-semantic links?"""
