"""Does one half of the documents predict the other?"""
