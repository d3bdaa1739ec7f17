package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"
	clocktesting "k8s.io/utils/clock/testing"
)

// fakeDiscovery is asked for its version.
type fakeDiscovery struct {
	version string
	err     error
	asked   int
}

func (c *fakeDiscovery) ServerVersion() (*version.Info, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	return &version.Info{GitVersion: c.version}, nil
}

func TestVersionServer(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	c := &fakeDiscovery{err: errors.New("refused")}
	s := &VersionServer{Server: c, Clock: clock}
	for _, step := range []struct {
		when    string
		after   time.Duration
		version string // that the cluster has from then on; none when empty
		want    string // or the error
		asked   int
	}{
		{"at first it cannot be had", 0, "", "refused", 1},
		{"that is remembered, for a little while", versionFailureLifetime - 1, "v1.1.1", "refused", 1},
		{"and not for longer", 1, "v1.1.1", "v1.1.1", 2},
		{"it is remembered", VersionLifetime - 1, "v1.2.0", "v1.1.1", 2},
		{"until the cluster may have been upgraded", 1, "v1.2.0", "v1.2.0", 3},
		{"when it cannot be had any more, the last one counts", VersionLifetime, "", "v1.2.0", 4},
		{"and it is asked for again soon", versionFailureLifetime, "v1.3.0", "v1.3.0", 5},
	} {
		clock.SetTime(clock.Now().Add(step.after))
		if c.version, c.err = step.version, nil; step.version == "" {
			c.err = errors.New("refused")
		}
		got := ""
		if info, err := s.ServerVersion(); err != nil {
			got = err.Error()
		} else {
			got = info.GitVersion
		}
		if got != step.want || c.asked != step.asked {
			t.Errorf("%s: %q, asked %d times; want %q, %d times", step.when, got, c.asked, step.want, step.asked)
		}
	}
}

func TestClusterVersion(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	c := &fakeDiscovery{err: errors.New("refused")}
	parsed := 0
	r := &ClusterVersion[int]{Server: c, Clock: clock, Without: "nothing is missing", Parse: func(text string) (int, error) {
		parsed++
		if text == "garbled" {
			return 0, errors.New("it is garbled")
		}
		return len(text), nil
	}}
	for _, step := range []struct {
		version      string
		want, parsed int
	}{{"", 0, 0}, {"v1", 2, 1}, {"garbled", 2, 2}, {"v1.36.3", 7, 3}, {"", 7, 4}} {
		if c.version, c.err = step.version, nil; step.version == "" {
			c.err = errors.New("refused")
		}
		for range 3 {
			if got := r.Get(context.Background()); got != step.want {
				t.Errorf("of %q: %d, want %d", step.version, got, step.want)
			}
		}
		if parsed != step.parsed {
			t.Errorf("after %q versions were parsed %d times, want %d", step.version, parsed, step.parsed)
		}
		clock.SetTime(clock.Now().Add(VersionLifetime))
	}
}
