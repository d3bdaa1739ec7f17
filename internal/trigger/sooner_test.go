package trigger

import (
	"testing"
	"time"
)

func TestSooner(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want time.Duration }{
		"never":            {0, 0, 0},
		"long past":        {-time.Second, -time.Minute, 0},
		"the only one":     {time.Minute, 0, time.Minute},
		"one is past":      {time.Minute, -time.Second, time.Minute},
		"the earlier":      {time.Minute, time.Second, time.Second},
		"at the same time": {time.Second, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got, turned := Sooner(c.a, c.b), Sooner(c.b, c.a); got != c.want || turned != c.want {
				t.Errorf("%s, the other way round %s; want %s", got, turned, c.want)
			}
		})
	}
}
