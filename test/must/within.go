package must

import "time"

// Within is a bound of time for a test, ten times as wide where the race detector runs.
func Within(most time.Duration) time.Duration {
	if Race {
		return 10 * most
	}
	return most
}
