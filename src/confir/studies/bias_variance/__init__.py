"""Effectiveness and stability: is a run good on average, or on every topic?"""
