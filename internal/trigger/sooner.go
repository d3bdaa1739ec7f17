package trigger

import "time"

// Sooner is the earlier one of two times from now to look again, of which 0 or less is never. It is 0 where both are.
func Sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b, 0)
	}
	return min(a, b)
}
