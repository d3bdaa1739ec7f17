package devcluster

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"fairlead.dev/fairlead/test/must"
)

func TestTunnelParseOrigin(t *testing.T) {
	tests := map[string]struct {
		want routeOrigin
		bad  bool
	}{
		"10.128.0.7":       {want: routeOrigin{IP: netip.MustParseAddr("10.128.0.7")}},
		"10.128.0.7:8443":  {want: routeOrigin{IP: netip.MustParseAddr("10.128.0.7"), Port: 8443}},
		"fd00::1":          {want: routeOrigin{IP: netip.MustParseAddr("fd00::1")}},
		"[fd00::1]:443":    {want: routeOrigin{IP: netip.MustParseAddr("fd00::1"), Port: 443}},
		"ns/webhook":       {want: routeOrigin{Namespace: "ns", Service: "webhook"}},
		"ns/webhook:443":   {want: routeOrigin{Namespace: "ns", Service: "webhook", Port: 443}},
		"":                 {bad: true},
		"webhook":          {bad: true},
		"/webhook":         {bad: true},
		"ns/":              {bad: true},
		"ns/webhook/x":     {bad: true},
		"ns/webhook:0":     {bad: true},
		"ns/webhook:x":     {bad: true},
		"ns/webhook:99999": {bad: true},
		"10.128.0.7:99999": {bad: true},
		"localhost:8443":   {bad: true},
	}
	for input, test := range tests {
		t.Run(input, func(t *testing.T) {
			got, err := parseOrigin(input)
			if (err != nil) != test.bad {
				t.Fatalf("error is %v, should be refused: %t", err, test.bad)
			}
			must.Equal(t, "result", got, test.want, cmpopts.EquateComparable(netip.Addr{}))
		})
	}
}

func FuzzTunnelParseOrigin(f *testing.F) {
	for _, seed := range []string{"10.0.0.1", "[::1]:1", "fe80::1%eth0", "a/b:1", "a/b:01", "10.0.0.1:00443"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		origin, err := parseOrigin(input)
		if err != nil {
			return
		}
		again, err := parseOrigin(origin.String())
		if err != nil || again != origin {
			t.Errorf("%q is read as %+v, printed as %q and read again as %+v, %v", input, origin, origin, again, err)
		}
	})
}
