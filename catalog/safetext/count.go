package safetext

import "fmt"

// Count says how many there are of something: "1 error", "2 errors".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
