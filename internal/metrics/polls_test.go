package metrics

import (
	"slices"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestPolls(t *testing.T) {
	began := time.Unix(1000, 0)
	later := began.Add(time.Hour)
	const times = "# TYPE fairlead_catalogsource_last_poll_timestamp_seconds gauge"
	const intervals = "# TYPE fairlead_catalogsource_poll_interval_seconds gauge"
	series := func(last, interval string) []string {
		return []string{times, `fairlead_catalogsource_last_poll_timestamp_seconds{name="a",namespace="olm"} ` + last,
			intervals, `fairlead_catalogsource_poll_interval_seconds{name="a",namespace="olm"} ` + interval}
	}
	for name, test := range map[string]struct {
		do   func(m *Polls)
		want []string
	}{
		"nothing": {func(*Polls) {}, nil},
		"polled":  {func(m *Polls) { m.Polled("olm", "a", began, later, time.Minute) }, series("1000", "60")},
		"a poll that fails leaves the last one that did not": {func(m *Polls) {
			m.Polled("olm", "a", began, began, time.Minute)
			m.Polled("olm", "a", time.Time{}, later, time.Minute)
		}, series("1000", "60")},
		"one that has failed since the start": {func(m *Polls) {
			m.Polled("olm", "a", time.Time{}, began, time.Minute)
			m.Polled("olm", "a", time.Time{}, later, time.Minute)
		}, series("1000", "60")},
		"again, with another interval": {func(m *Polls) {
			m.Polled("olm", "a", began, began, time.Minute)
			m.Polled("olm", "a", later, later, time.Hour)
		}, series("4600", "3600")},
		"not any more": {func(m *Polls) {
			m.Polled("olm", "a", began, began, time.Minute)
			m.Gone("olm", "a")
			m.Gone("olm", "never")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewPolls("CatalogSource", true)
			test.do(m)
			slices.Sort(test.want)
			must.Equal(t, "scrape", append([]string{}, scrape(t, m)...), append([]string{}, test.want...))
		})
	}
	m := NewPolls("ClusterCatalog", false)
	m.Polled("", "a", began, began, time.Minute)
	must.Contain(t, "scrape", scrape(t, m)[2], `fairlead_clustercatalog_last_poll_timestamp_seconds{name="a"} 1000`)
	var none *Polls
	none.Polled("", "a", began, began, time.Minute)
	none.Gone("", "a")
}
