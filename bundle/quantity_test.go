package bundle

import (
	"strings"
	"testing"
	"time"
)

// TestHostileQuantities: reading them would take minutes and more.
func TestHostileQuantities(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a tiny one":         {"1e-999999999", `limits.cpu: "1e-999999999" is too small for a number; write 0`},
		"a long one":         {"0." + strings.Repeat("9", 2_000_000), "limits.cpu: a number of 2000002 characters"},
		"a large exponent":   {"1e999999999", ""},
		"a usual one":        {"1e-3", ""},
		"a suffix":           {"100m", ""},
		"something too long": {strings.Repeat("x", 2000), "ClusterServiceVersion op.v1.0.0 does not have the form of its kind"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			csv := strings.Replace(testCSVYAML, "              - {", "              - {resources: {limits: {cpu: '"+test.text+"'}}, ", 1)
			if csv == testCSVYAML {
				t.Fatal("the test bundle has other containers than expected")
			}
			begin := time.Now()
			_, err := load(bundleFiles(map[string]string{"manifests/csv.yaml": csv}), defaultLimits)
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %.300v, want %q", err, test.want)
			}
		})
	}
}
