-- Frequent English words, as a regular expression.
create macro english_words() as
'(?i)\b(?:the|and|of|to|is|are|that|this|it|with|for|because|not|but|its|which|from|by|has|have|should)\b'
