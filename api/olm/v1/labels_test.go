package v1

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/test/must"
)

// TestLabelValue is a name as it is where it fits, and otherwise another one for every name.
func TestLabelValue(t *testing.T) {
	for _, name := range []string{"a", "a.b-c", strings.Repeat("a", 63)} {
		must.Equal(t, fmt.Sprintf("%s becomes", name), LabelValue(name), name)
	}
	seen := map[string]string{}
	for length := 64; length <= 253; length++ {
		for _, part := range []string{"a", "ab-", "a.b-c."} {
			name := strings.Repeat(part, length)[:length-1] + "z"
			got := LabelValue(name)
			must.Empty(t, fmt.Sprintf("%s becomes %s", name, got), append(validation.IsValidLabelValue(got), validation.IsDNS1123Subdomain(got)...))
			if other, taken := seen[got]; taken {
				t.Errorf("%s and %s both become %s", name, other, got)
			}
			seen[got] = name
		}
	}
}
