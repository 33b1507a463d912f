"""Measures of the study: ranks, scores, rejections, ratings, and the published figures beside them."""
