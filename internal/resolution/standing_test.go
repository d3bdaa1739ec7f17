package resolution

import "testing"

func TestBehindAndAside(t *testing.T) {
	for name, tc := range map[string]struct {
		standing      Standing
		behind, aside bool
	}{
		"at the newest":                    {Standing{Installed: "a.v1", Allowed: "a.v1", Newest: "a.v1"}, false, false},
		"no catalog has it any more":       {Standing{Installed: "a.v1", Allowed: "a.v1"}, false, false},
		"an upgrade is to come":            {Standing{Installed: "a.v1", Next: "a.v2", Allowed: "a.v2", Newest: "a.v2"}, true, false},
		"several upgrades are to come":     {Standing{Installed: "a.v1", Next: "a.v2", Allowed: "a.v3", Newest: "a.v3"}, true, false},
		"the newest is in another channel": {Standing{Installed: "a.v1", Allowed: "a.v1", Newest: "a.v2"}, true, true},
		"it is held":                       {Standing{Installed: "a.v1", Allowed: "a.v1", Newest: "a.v2", HeldBy: "b"}, true, false},
		"it is to be installed":            {Standing{Next: "a.v1", Newest: "a.v1"}, true, false},
	} {
		if tc.standing.Behind() != tc.behind || tc.standing.Aside() != tc.aside {
			t.Errorf("%s: behind %t, aside %t", name, tc.standing.Behind(), tc.standing.Aside())
		}
	}
}
