"""Would the results be the same on another collection of documents?"""
