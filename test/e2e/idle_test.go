package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// A day is lived through in two minutes; the everyday run lives a sixth of it. What a manager waits for is waited for really, so that nothing would happen
// on such a day by itself. Therefore everything is looked at again, as it is by itself some times a day, every 1.2 s, which are about 18 minutes of the
// day, and catalogs, which are not looked at without a reason, are touched as often. They are to be polled every quarter of an hour, and up to a tenth
// of that later.
const (
	faster   = 900
	interval = 15 * time.Minute
	resync   = 1200 * time.Millisecond
)

func day() time.Duration { return time.Duration(sweep.Of(4, 4, 24)) * time.Hour }

// fastClock runs faster than time. What is waited for is waited for really.
type fastClock struct {
	clock.RealClock
	began time.Time
}

func (c fastClock) Now() time.Time                  { return c.began.Add(time.Since(c.began) * faster) }
func (c fastClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// tap notes what goes to the API server.
type tap struct {
	mutex sync.Mutex
	seen  []request
}

func (p *tap) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		q := request{method: r.Method, path: r.URL.Path}
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			if err = errors.Join(err, r.Body.Close()); err != nil {
				return nil, err
			}
			q.body, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
		}
		p.mutex.Lock()
		p.seen = append(p.seen, q)
		p.mutex.Unlock()
		return next.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// take returns what was seen since the last time.
func (p *tap) take() []request {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	seen := p.seen
	p.seen = nil
	return seen
}

// polled is the catalog whose poll a write notes, and when that was; the write says nothing else.
func polled(r request) (catalog string, at time.Time, ok bool) {
	var said struct {
		Status map[string]time.Time
	}
	_, name, is := strings.Cut(r.path, "/catalogsources/")
	name, is2 := strings.CutSuffix(name, "/status")
	decoder := json.NewDecoder(strings.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if !is || !is2 || decoder.Decode(&said) != nil || len(said.Status) != 1 {
		return "", time.Time{}, false
	}
	at, ok = said.Status["latestImageRegistryPoll"]
	return name, at, ok
}

// TestADayOfTheWholeManager has four catalogs and twenty Subscriptions, which are installed, held, waiting or without an answer, and lets a
// day without news pass. Of all that the manager does on it, nothing is written but the lease and the time of each poll.
func TestADayOfTheWholeManager(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes, on a cluster of its own")
	}
	t.Parallel()
	o := pooled(t)
	seen := &tap{}
	config := rest.CopyConfig(o.config)
	config.Wrap(seen.wrap)
	metrics := harness.FreeAddress(t)
	o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manager.DefaultGlobalNamespace}})
	o.manage(manager.Options{Config: config, LeaderElection: true, LeaderNamespace: manager.DefaultGlobalNamespace, MetricsAddress: metrics, MetricsPlain: true,
		Clock: fastClock{began: time.Now()}, Resync: resync})
	o.twentySubscriptions()
	checkMetrics(t, metrics)
	must.EventuallyWithin(o, "the manager to come to rest", time.Minute, func() error {
		seen.take()
		time.Sleep(3 * resync)
		for _, r := range seen.take() {
			if _, _, poll := polled(r); r.writes() && !r.renews() && !poll {
				return fmt.Errorf("it still writes: %s", r)
			}
		}
		return nil
	})
	touched := 0
	for end := time.Now().Add(day() / faster); time.Now().Before(end); time.Sleep(resync) {
		// Change something about the catalogs that says nothing.
		for i := range 4 {
			s := catalogSource(fmt.Sprintf("catalog%d", i), "", 0)
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/touched":%q}}}`, time.Until(end))
			if err := o.Patch(o.Context(), s, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				o.Error(err)
			}
		}
		touched++
	}
	checkDay(t, seen.take(), touched)
}

// twentySubscriptions waits until all of them are where they will stay.
func (o *own) twentySubscriptions() {
	o.Helper()
	want := map[string]string{}
	for i := range 4 {
		name, namespace := fmt.Sprintf("catalog%d", i), fmt.Sprintf("namespace%d", i)
		o.namespace(namespace)
		var packages []string
		for j := range 5 {
			packages = append(packages, fmt.Sprintf("operator%d%d", i, j))
		}
		o.create(catalogSource(name, o.publish(name, packages, []string{"1.0.0", "1.1.0"}), interval))
		for j, pkg := range packages {
			sub, verdict := subscription(namespace, pkg, "stable", name), "Installed"
			switch {
			case j == 0:
				sub.Spec.InstallPlanApproval, verdict = v1alpha1.ApprovalManual, "RequiresApproval"
			case j == 1 && i == 0:
				sub.Annotations = map[string]string{"operators.fairlead.dev/version-range": "<1.1.0"}
			case j == 1 && i == 1:
				sub.Spec.Channel, verdict = "none", "ResolutionFailed"
			}
			want[namespace+"/"+pkg] = verdict
			o.create(sub)
		}
	}
	must.EventuallyWithin(o, "all Subscriptions to have their verdict", 3*time.Minute, func() error {
		var all v1alpha1.SubscriptionList
		if err := o.List(o.Context(), &all); err != nil {
			return err
		}
		var others []string
		for i := range all.Items {
			s := &all.Items[i]
			if c := s.Status.GetCondition("Ready"); c.Reason != want[s.Namespace+"/"+s.Name] {
				others = append(others, fmt.Sprintf("%s/%s: %s %s", s.Namespace, s.Name, c.Reason, c.Message))
			}
		}
		if len(others) > 0 || len(all.Items) != len(want) {
			return fmt.Errorf("%d of %d Subscriptions; %s", len(all.Items), len(want), strings.Join(others, "\n"))
		}
		return nil
	})
}

// checkDay looks through what a day's requests were. Every catalog was polled, at least at every other time that it was touched, of which there are fewer
// on a busy machine, and each poll was noted once.
func checkDay(t *testing.T, requests []request, touched int) {
	t.Helper()
	times, reads := map[string][]time.Time{}, map[string]int{}
	for _, r := range requests {
		catalog, at, poll := polled(r)
		switch {
		case poll:
			times[catalog] = append(times[catalog], at)
		case !r.writes():
			reads[r.method+" "+r.path]++
		case !r.renews():
			t.Errorf("on a day without news: %s", r)
		}
	}
	for catalog, all := range times {
		if most := int(day() / interval); len(all) < touched/2 || len(all) > most {
			t.Errorf("%d polls of %s were noted on one day, of %d at most; it was touched %d times", len(all), catalog, most, touched)
		}
		for i := 1; i < len(all); i++ {
			if between := all[i].Sub(all[i-1]); between < interval {
				t.Errorf("%s was polled again after %s", catalog, between)
			}
		}
	}
	if len(times) != 4 {
		t.Errorf("%d catalogs were polled", len(times))
	}
	total := 0
	for _, what := range slices.Sorted(maps.Keys(reads)) {
		total += reads[what]
		t.Logf("%5d %s", reads[what], what)
	}
	if most := int(day() / time.Minute); total > most {
		t.Errorf("there were %d reads, want at most %d, one a minute", total, most)
	}
}
