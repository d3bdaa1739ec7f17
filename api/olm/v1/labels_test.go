package v1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// TestLabelValue is a name as it is where it fits, and otherwise another one for every name.
func TestLabelValue(t *testing.T) {
	for _, name := range []string{"a", "a.b-c", strings.Repeat("a", 63)} {
		if got := LabelValue(name); got != name {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	seen := map[string]string{}
	for length := 64; length <= 253; length++ {
		for _, part := range []string{"a", "ab-", "a.b-c."} {
			name := strings.Repeat(part, length)[:length-1] + "z"
			got := LabelValue(name)
			if problems := append(validation.IsValidLabelValue(got), validation.IsDNS1123Subdomain(got)...); len(problems) > 0 {
				t.Errorf("%s becomes %s: %v", name, got, problems)
			}
			if other, taken := seen[got]; taken {
				t.Errorf("%s and %s both become %s", name, other, got)
			}
			seen[got] = name
		}
	}
}
