package resolution

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/test/must"
)

// explained is something that cannot be had, told with advice.
type explained struct {
	who      string // the asker of what is held back; empty when Subscriptions go without
	conflict *Conflict
}

func (e explained) reasons() string { return e.who + "\n" + reasonsOf(e.conflict) }

func explanations(r NamespaceResult) []explained {
	var all []explained
	for _, g := range r.Groups {
		var c *Conflict
		if errors.As(g.Err, &c) {
			all = append(all, explained{"", c})
		}
		for _, h := range g.Held {
			if h.Conflict != nil {
				all = append(all, explained{h.Asker, h.Conflict})
			}
		}
	}
	return all
}

var (
	channelWay = regexp.MustCompile(`^let Subscription (\S+) follow channel ([^\s,]+)(?:, which has (\S+))?$`)
	deleteWay  = regexp.MustCompile(`^(?:to have \S+: )?delete ((?:Subscription|ClusterServiceVersion) .*)$`)
	anewWay    = regexp.MustCompile(`^delete Subscription (\S+) and ClusterServiceVersion (\S+), then create the Subscription again( without spec.startingCSV)?, which reinstalls (\S+): the operator does not run meanwhile`)
	commandWay = regexp.MustCompile(`^to have subscription (\S+) start over: kubectl delete clusterserviceversion (\S+) -n \S+$`)
	kubeWay    = regexp.MustCompile(`^upgrade the cluster to Kubernetes (\S+) or newer$`)
	startWay   = regexp.MustCompile(`^correct spec.startingCSV of Subscription (\S+), or leave it out to get the newest$`)
)

// followed are the inputs that come of a piece of advice that is taken at its word, and what is to be installed then, if it says that.
func followedAdvice(in NamespaceRequest, advice string) (changed []NamespaceRequest, installs []string) {
	change := func(installed string, edit func(*NamespaceRequest)) {
		next := in
		next.Subscriptions, next.Operators = slices.Clone(in.Subscriptions), slices.Clone(in.Operators)
		edit(&next)
		changed, installs = append(changed, next), append(installs, installed)
	}
	edited := func(in *NamespaceRequest, name string, edit func(*Subscription)) {
		for i := range in.Subscriptions {
			if in.Subscriptions[i].Name == name {
				edit(&in.Subscriptions[i])
			}
		}
	}
	without := func(in *NamespaceRequest, kind, name string) {
		if kind == "Subscription" {
			in.Subscriptions = slices.DeleteFunc(in.Subscriptions, func(s Subscription) bool { return s.Name == name })
		} else {
			in.Operators = slices.DeleteFunc(in.Operators, func(o Operator) bool { return o.Name == name })
		}
	}
	for _, way := range strings.Split(advice, "; or ") {
		if m := channelWay.FindStringSubmatch(way); m != nil {
			change(m[3], func(in *NamespaceRequest) { edited(in, m[1], func(s *Subscription) { s.Channel = m[2] }) })
		} else if m := anewWay.FindStringSubmatch(way); m != nil {
			change(m[4], func(in *NamespaceRequest) {
				without(in, "ClusterServiceVersion", m[2])
				edited(in, m[1], func(s *Subscription) {
					if s.Installed = ""; m[3] != "" {
						s.StartingCSV = ""
					}
				})
			})
		} else if m := commandWay.FindStringSubmatch(way); m != nil {
			change("", func(in *NamespaceRequest) { without(in, "ClusterServiceVersion", m[2]) })
		} else if m := kubeWay.FindStringSubmatch(way); m != nil {
			change("", func(in *NamespaceRequest) { in.Kubernetes = semver.MustParse(m[1]) })
		} else if m := startWay.FindStringSubmatch(way); m != nil {
			change("", func(in *NamespaceRequest) { edited(in, m[1], func(s *Subscription) { s.StartingCSV = "" }) })
		} else if m := deleteWay.FindStringSubmatch(way); m != nil {
			for _, one := range strings.Split(m[1], ", or ") {
				change("", func(in *NamespaceRequest) {
					for _, object := range strings.Split(strings.TrimPrefix(one, "delete "), " and ") {
						kind, name, _ := strings.Cut(object, " ")
						without(in, kind, name)
					}
				})
			}
		}
	}
	return changed, installs
}

// checkAdvice follows every piece of advice of a result to the letter: what it was given for must be gone, and what it promises there.
// It returns how many pieces there were to follow.
func checkAdvice(t testing.TB, in NamespaceRequest, r NamespaceResult) int {
	t.Helper()
	tried := 0
	for _, e := range explanations(r) {
		changed, installs := followedAdvice(in, e.conflict.Advice)
		for i, next := range changed {
			tried++
			after := namespace(t, next)
			if slices.ContainsFunc(explanations(after), func(again explained) bool { return again.reasons() == e.reasons() }) {
				t.Errorf("way %d of the advice %q changes nothing:\n%s\nafter it:\n%s", i+1, e.conflict.Advice, e.conflict.Error(), after.String())
			}
			chosen := func(c Choice) bool { return c.Bundle.Name == installs[i] }
			if installs[i] != "" && !slices.ContainsFunc(after.Groups, func(g Group) bool { return slices.ContainsFunc(g.Choices, chosen) }) {
				t.Errorf("way %d of the advice %q does not install %s:\n%s", i+1, e.conflict.Advice, installs[i], after.String())
			}
		}
	}
	return tried
}

// TestNamespaceAdviceWorks follows the advice of all scenarios, and of random namespaces.
func TestNamespaceAdviceWorks(t *testing.T) {
	files := must.Value(filepath.Glob("testdata/namespace/*.txtar"))(t)
	tried := 0
	for _, file := range files {
		archive := must.Value(txtar.ParseFile(file))(t)
		in := scenarioRequest(t, archive)
		t.Run(filepath.Base(file), func(t *testing.T) { tried += checkAdvice(t, in, namespace(t, in)) })
	}
	if tried < 40 {
		t.Errorf("the scenarios have only %d pieces of advice that can be followed", tried)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	namespaces, random := 1000, 0
	if testing.Short() {
		namespaces = 100
	}
	for range namespaces {
		in := randomNamespace(t, randomData(rnd), false)
		random += checkAdvice(t, in, namespace(t, in))
	}
	if random < namespaces/10 {
		t.Errorf("%d random namespaces have only %d pieces of advice that can be followed", namespaces, random)
	}
	t.Logf("followed %d pieces of advice of scenarios and %d of random namespaces", tried, random)
}
