"""What fine-tuning does (beyond the paper; Hao et al. 2019).

Layers reset to pre-trained weights, paths between both models, the loss around them.
"""
