package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// now is a Sunday.
var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func layer(object, value string) Layer { return Layer{object, map[string]string{WindowKey: value}} }

// judged is until when an upgrade waits, or its message where no time ends that; empty for an upgrade that may begin.
func judged(at time.Time, rules Rules) string {
	held := Judge(at, Upgrade{Object: "Subscription a", Bundle: "a.v1.1.0", Version: "1.1.0", Rules: rules})
	switch {
	case held == nil:
		return ""
	case held.Until.IsZero():
		return held.Message
	}
	return held.Until.UTC().Format(time.RFC3339)
}

// TestLayers: the most specific windows count, and freezes add up.
func TestLayers(t *testing.T) {
	const week, freeze = "Mon-Fri 22:00-04:00 Europe/Berlin", "freeze 2026-11-25..2026-12-02 Europe/Berlin"
	for name, c := range map[string]struct {
		ring    string
		cluster string
		ns      string
		object  string
		want    string
	}{
		"nothing says anything":                {},
		"the cluster has a window":             {cluster: week, want: "2026-11-30T21:00:00Z"},
		"that of the namespace counts instead": {cluster: week, ns: "Sun 13:00-14:00 UTC", want: "2026-11-29T13:00:00Z"},
		"that of the object counts instead":    {cluster: week, ns: "Sun 13:00-14:00 UTC", object: "always"},
		"a freeze ends within a window":        {cluster: week, ns: freeze, want: "2026-12-02T23:00:00Z"},
		"a freeze outlives another window":     {cluster: freeze, object: "always", want: "2026-12-02T23:00:00Z"},
		"freezes add up":                       {cluster: freeze, ns: "freeze 2026-12-03..2026-12-04 Europe/Berlin", object: "freeze 2026-12-05 Europe/Berlin", want: "2026-12-05T23:00:00Z"},
		"never":                                {ns: "never", want: "upgrade held: a.v1.1.0 cannot begin: annotation " + WindowKey + " of Namespace ns (never) allows no upgrade; to begin at once, annotate Subscription a with " + NowKey + "=a.v1.1.0"},
		"never gives way to what is specific":  {ns: "never", object: "always"},
		"a ring that may move":                 {ring: "canary", object: "ring canary from 2026-11-28 UTC; ring rest from 2026-12-08 UTC"},
		"a ring that waits":                    {ring: "rest", object: "ring canary from 2026-11-28 UTC; ring rest from 2026-12-08 09:30 Europe/Berlin", want: "2026-12-08T08:30:00Z"},
		"a ring that waits for a window, too":  {ring: "rest", cluster: week, object: "ring rest from 2026-12-08 UTC", want: "2026-12-08T00:00:00Z"},
		"rings of the object count":            {ring: "rest", ns: "ring rest from 2027-01-01 UTC", object: "ring rest from 2026-12-08 UTC", want: "2026-12-08T00:00:00Z"},
		"a cluster without a ring": {ns: "ring canary from 2026-11-28 UTC", want: "upgrade held: a.v1.1.0 cannot begin: annotation " + WindowKey + " of Namespace ns (ring canary from 2026-11-28 UTC) lists rings, " +
			"and this cluster has none: label OLMConfig cluster with " + RingLabel + "; to begin at once, annotate Subscription a with " + NowKey + "=a.v1.1.0"},
		"a ring that is not listed": {ring: "lab", ns: "ring canary from 2026-11-28 UTC", want: "upgrade held: a.v1.1.0 cannot begin: annotation " + WindowKey + " of Namespace ns (ring canary from 2026-11-28 UTC) lists the rings canary, " +
			"and this cluster is in ring lab: add it, or correct label " + RingLabel + " of OLMConfig cluster; to begin at once, annotate Subscription a with " + NowKey + "=a.v1.1.0"},
		"what cannot be read holds, whatever else is said": {cluster: "Mon-Fri", object: "always", want: "upgrade held: a.v1.1.0 cannot begin: annotation " + WindowKey + " of OLMConfig cluster cannot be read: at character 1, \"Mon-Fri\": " +
			"the times are missing: " + shape + "; until it is corrected or removed nothing is upgraded; to begin at once, annotate Subscription a with " + NowKey + "=a.v1.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var layers []Layer
			for _, l := range []Layer{layer(Cluster, c.cluster), layer("Namespace ns", c.ns), layer("Subscription a", c.object)} {
				if l.Annotations[WindowKey] != "" {
					layers = append(layers, l)
				} else {
					layers = append(layers, Layer{Object: l.Object})
				}
			}
			must.Equal(t, "held", judged(now, Read(c.ring, layers...)), c.want)
		})
	}
}

// TestMessage: it says until when, by whom, and what lets it through.
func TestMessage(t *testing.T) {
	rules := Read("", layer(Cluster, "freeze 2026-11-25..2026-11-27 UTC"), layer("Namespace ns", "Mon-Fri 22:00-04:00 Europe/Berlin"))
	const want = "upgrade held until 2026-11-30T21:00:00Z (Mon 30 Nov 2026 22:00 Europe/Berlin): a.v1.1.0 waits for " +
		"annotation operators.fairlead.dev/upgrade-window of OLMConfig cluster (freeze 2026-11-25..2026-11-27 UTC) and " +
		"annotation operators.fairlead.dev/upgrade-window of Namespace ns (Mon-Fri 22:00-04:00 Europe/Berlin); " +
		"to begin at once, annotate Subscription a with operators.fairlead.dev/upgrade-now=a.v1.1.0"
	u := Upgrade{Object: "Subscription a", Bundle: "a.v1.1.0", Version: "1.1.0", Rules: rules}
	for at := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC); at.Before(time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)); at = at.Add(7 * time.Minute) {
		must.Equal(t, "the message stays as it is while it waits, at "+at.String(), Judge(at, u).Message, want)
	}
	u.Annotations = map[string]string{NowKey: "1.0.9"}
	must.Contain(t, "the message for another version", Judge(now, u).Message, `=a.v1.1.0, which now names "1.0.9"`)
}

// TestPassed: a person lets one version through, and no later one.
func TestPassed(t *testing.T) {
	rules := Read("", layer(Cluster, "never"))
	for value, passes := range map[string]bool{"": false, "a.v1.1.0": true, "1.1.0": true, " 1.1.0\n": true, "1.1": false, "true": false, "a.v1.0.0": false} {
		held := Judge(now, Upgrade{Object: "Subscription a", Annotations: map[string]string{NowKey: value}, Bundle: "a.v1.1.0", Version: "1.1.0", Rules: rules})
		must.Equal(t, "passes with "+value, held == nil, passes)
	}
}

// TestTogether: upgrades that begin together wait for a time that all allow.
func TestTogether(t *testing.T) {
	of := func(name, value string) Upgrade {
		return Upgrade{Object: "Subscription " + name, Bundle: name + ".v1.1.0", Rules: Read("", layer("Subscription "+name, value))}
	}
	a, b, c := of("a", "daily 01:00-04:00 UTC"), of("b", "Mon-Wed 03:30-05:00 UTC"), of("c", "daily 05:00-06:00 UTC")
	must.Equal(t, "a and b", Judge(now, a, b).Until.UTC(), time.Date(2026, 11, 30, 3, 30, 0, 0, time.UTC))
	must.Contain(t, "a and c", Judge(now, a, c).Message, "upgrade held: a.v1.1.0, c.v1.1.0 cannot begin: there is no time within a year that annotation "+WindowKey+" of Subscription a", "allow together")
	c.Annotations = map[string]string{NowKey: "c.v1.1.0"}
	must.Equal(t, "a alone, as c passes", Judge(now, a, c).Until.UTC(), time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC))
	must.Equal(t, "no upgrade", Judge(now), nil)
	again := now.Add(time.Minute)
	must.Equal(t, "by a gate", *By("not yet", again, a), Held{again, "upgrade held by the upgrade gate: a.v1.1.0 waits: not yet; to begin at once, annotate Subscription a with " + NowKey + "=a.v1.1.0"})
}

// TestHostileWindowsCostLittle: as many windows as an annotation may have, of two Subscriptions that never have a time in common.
func TestHostileWindowsCostLittle(t *testing.T) {
	of := func(name string, from int) Upgrade {
		spans := make([]string, maxEntries)
		for i := range spans {
			begin := from + 2*i
			spans[i] = fmt.Sprintf("%02d:%02d-%02d:%02d", begin/60, begin%60, (begin+1)/60, (begin+1)%60)
		}
		return Upgrade{Object: "Subscription " + name, Bundle: name, Rules: Read("", layer("Subscription "+name, strings.Join(spans, ",")+" Africa/Casablanca"))}
	}
	began := time.Now()
	held := Judge(now, of("a", 0), of("b", 1))
	must.Contain(t, "message", held.Message, "there is no time within a year")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it takes %s", took)
	}
}
