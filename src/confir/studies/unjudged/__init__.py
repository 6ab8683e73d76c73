"""How far could scores move if unjudged documents were judged?"""
