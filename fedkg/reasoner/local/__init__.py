"""The model `local`: a reasoning model without any language model, which reads English by words and likenesses."""
