"""Is run B better than run A?"""
