package metrics

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"fairlead.dev/fairlead/test/must"
)

// scrape is what a scrape of the collector reads, without comments, in order.
func scrape(t *testing.T, c prometheus.Collector) []string {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	must.Value(Register(r, c))(t)
	families := must.Value(r.Gather())(t)
	var out bytes.Buffer
	for _, f := range families {
		must.Value(expfmt.MetricFamilyToText(&out, f))(t)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "# HELP") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func TestSubscriptions(t *testing.T) {
	a := Subscription{Name: "a", Channel: "stable", Package: "p", Approval: "Automatic"}
	installed := a
	installed.Installed = "p.v1.0.0"
	const types = "# TYPE subscription_count gauge"
	series := func(s Subscription, n string) string {
		return `subscription_sync_total{approval="` + s.Approval + `",channel="` + s.Channel + `",installed="` + s.Installed + `",name="` + s.Name + `",package="` + s.Package + `"} ` + n
	}
	tests := map[string]struct {
		do   func(m *Subscriptions)
		want []string
	}{
		"nothing":         {func(*Subscriptions) {}, []string{types, "subscription_count 0"}},
		"one, seen twice": {func(m *Subscriptions) { m.Synced("ns", []Subscription{a}); m.Synced("ns", []Subscription{a}) }, []string{types, "subscription_count 1", series(a, "2")}},
		"a change begins a new series": {
			func(m *Subscriptions) { m.Synced("ns", []Subscription{a}); m.Synced("ns", []Subscription{installed}) },
			[]string{types, "subscription_count 1", series(installed, "1")},
		},
		"a series goes with its object": {
			func(m *Subscriptions) { m.Synced("ns", []Subscription{a}); m.Synced("ns", nil) },
			[]string{types, "subscription_count 0"},
		},
		"the same name in two namespaces": {
			func(m *Subscriptions) { m.Synced("one", []Subscription{a}); m.Synced("two", []Subscription{installed}) },
			[]string{types, "subscription_count 2", series(a, "1"), series(installed, "1")},
		},
		"a series that two share stays for the other": {
			func(m *Subscriptions) {
				m.Synced("one", []Subscription{a})
				m.Synced("two", []Subscription{a})
				m.Synced("two", nil)
			},
			[]string{types, "subscription_count 1", series(a, "2")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := NewSubscriptions()
			tc.do(m)
			want := slices.Clone(tc.want)
			if len(want) > 2 {
				want = append(want, "# TYPE subscription_sync_total counter")
			}
			slices.Sort(want)
			must.Equal(t, "scrape", scrape(t, m), want)
		})
	}
}

func TestResolutionDuration(t *testing.T) {
	m := NewSubscriptions()
	m.Resolved(250*time.Millisecond, true)
	m.Resolved(2*time.Second, false)
	text := strings.Join(scrape(t, m), "\n")
	for _, want := range []string{
		"# TYPE olm_resolution_duration_seconds summary",
		`olm_resolution_duration_seconds{outcome="succeeded",quantile="0.95"} 0.25`,
		`olm_resolution_duration_seconds{outcome="failed",quantile="0.9"} 2`,
		`olm_resolution_duration_seconds{outcome="failed",quantile="0.99"} 2`,
		`olm_resolution_duration_seconds_count{outcome="succeeded"} 1`,
		`olm_resolution_duration_seconds_sum{outcome="failed"} 2`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestRegisterTwiceIsTheFirst(t *testing.T) {
	r := prometheus.NewRegistry()
	first := must.Value(Register(r, NewSubscriptions()))(t)
	second, err := Register(r, NewSubscriptions())
	if err != nil || second != first {
		t.Errorf("the second is the first: %t, %v", second == first, err)
	}
	other := prometheus.NewGauge(prometheus.GaugeOpts{Name: "subscription_count", Help: "something else"})
	if _, err := Register(r, other); err == nil {
		t.Error("another metric of the same name was registered")
	}
}
