package apply

import "testing"

// TestScaledToZero tells what others did from what the manifest asks for.
func TestScaledToZero(t *testing.T) {
	number := func(n int32) *int32 { return &n }
	const scaled = "Deployment manager is scaled to 0 replicas; scale it up again"
	for name, test := range map[string]struct {
		desired, live *int32
		want          string
	}{
		"no number is asked for, and none set": {nil, nil, ""},
		"no number is asked for":               {nil, number(0), scaled},
		"another one is asked for":             {number(2), number(0), scaled},
		"zero is asked for":                    {number(0), number(0), ""},
		"scaled up":                            {number(0), number(3), ""},
		"it runs":                              {nil, number(1), ""},
	} {
		if got := ScaledToZero("Deployment", "manager", test.desired, test.live); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
