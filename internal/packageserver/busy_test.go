package packageserver

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// follower keeps one object for each name, as informers do.
type follower map[string]string

func describe(p *packagesv1.PackageManifest) string {
	text := p.Status.CatalogSourceNamespace + "/" + p.Status.CatalogSource + " " + p.Status.CatalogSourceDisplayName
	for _, c := range p.Status.Channels {
		text += " " + c.CurrentCSV
	}
	return text
}

// listed begins with a list, of which the last of a name stays.
func (w *world) listed(t *testing.T, namespace string, o internalversion.ListOptions) (follower, string) {
	t.Helper()
	answer := must.Value(w.storage.List(request.WithNamespace(t.Context(), namespace), &o))(t)
	all := must.Value(answer.(*list).whole())(t)
	known := follower{}
	for i := range all.Items {
		known[all.Items[i].Name] = describe(&all.Items[i])
	}
	return known, all.ResourceVersion
}

// apply takes an event over, and says what is wrong with it.
func (c follower) apply(e watch.Event) error {
	p, ok := e.Object.(*packagesv1.PackageManifest)
	if !ok {
		return fmt.Errorf("%s of %T", e.Type, e.Object)
	}
	before, known := c[p.Name]
	switch {
	case e.Type == watch.Bookmark:
		return nil
	case e.Type == watch.Deleted && !known:
		return fmt.Errorf("%s is deleted, and was not there", p.Name)
	case e.Type == watch.Deleted:
		delete(c, p.Name)
		return nil
	case e.Type == watch.Added && known, e.Type == watch.Modified && !known:
		return fmt.Errorf("%s of %s, which was there before: %t", e.Type, p.Name, known)
	case before == describe(p):
		return fmt.Errorf("%s of %s tells what was told before: %s", e.Type, p.Name, before)
	}
	c[p.Name] = describe(p)
	return nil
}

// firsts is what a client has to know in the end: what get returns for each name.
func (w *world) firsts(t *testing.T, namespace string) follower {
	t.Helper()
	want := follower{}
	for _, o := range w.storage.present.now().offers(namespace, "olm") {
		got := must.Value(w.storage.Get(request.WithNamespace(t.Context(), namespace), o.doc.name, nil))(t)
		want[o.doc.name] = describe(got.(*packagesv1.PackageManifest))
	}
	return want
}

// TestNoEventIsLost lets clients list and then watch while a catalog changes all the time: every one is told each difference once.
func TestNoEventIsLost(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0", "c@1.0.0")
	var contents [][]string
	for i := range 40 {
		packages := []string{fmt.Sprintf("a@1.%d.0", i)}
		if i%2 == 0 {
			packages = append(packages, fmt.Sprintf("b@1.%d.0", i/4))
		}
		if i%3 == 0 {
			packages = append(packages, "c@1.0.0")
		}
		contents = append(contents, packages)
	}
	busy, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	var writer, clients sync.WaitGroup
	writer.Go(func() {
		for i := 0; busy.Err() == nil; i++ {
			w.publish(t, "olm/global", contents[i%len(contents)]...)
			if i%5 == 0 {
				w.rename(0, fmt.Sprintf("Name %d", i%15))
				w.refresh(t)
			}
			time.Sleep(time.Millisecond)
		}
	})
	for i := range 8 {
		clients.Go(func() {
			time.Sleep(time.Duration(i) * 50 * time.Millisecond)
			known, revision := w.listed(t, "mine", internalversion.ListOptions{})
			time.Sleep(time.Duration(i) * time.Millisecond) // catalogs change in between
			events, err := w.storage.Watch(request.WithNamespace(t.Context(), "mine"), &internalversion.ListOptions{ResourceVersion: revision, AllowWatchBookmarks: true})
			if err != nil {
				t.Errorf("watch from %s on: %v", revision, err)
				return
			}
			defer events.Stop()
			n := 0
			for quiet := false; !quiet; {
				select {
				case e := <-events.ResultChan():
					n++
					if err := known.apply(e); err != nil {
						t.Errorf("event %d: %v", n, err)
						return
					}
				case <-time.After(300 * time.Millisecond):
					quiet = busy.Err() != nil
				}
			}
			if diff := cmp.Diff(w.firsts(t, "mine"), known); diff != "" || n < 10 {
				t.Errorf("after %d events client %d knows (-want +got):\n%s", n, i, diff)
			}
		})
	}
	writer.Wait()
	clients.Wait()
}

// TestChangeBetweenListAndWatch changes what the cluster says before the server has noticed, which is when lists and watches used to read it.
func TestChangeBetweenListAndWatch(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	known, revision := w.listed(t, "mine", internalversion.ListOptions{})
	w.rename(0, "New")
	events := w.follow(t, "mine", internalversion.ListOptions{ResourceVersion: revision})
	w.refresh(t)
	select {
	case e := <-events.ResultChan():
		must.NoErrorf(t, known.apply(e), "told")
		must.Equal(t, "told", known["a"], "olm/global New a.v1.0.0")
	case <-time.After(10 * time.Second):
		t.Error("the change is not told")
	}
}

// TestOneOfSeveral lets two catalogs offer the same package: whoever keeps one object for each name has the one that get returns, however
// it began and whatever happens to the catalogs.
func TestOneOfSeveral(t *testing.T) {
	yes := true
	begins := map[string]func(t *testing.T, w *world) (follower, watch.Interface){
		"list and watch": func(t *testing.T, w *world) (follower, watch.Interface) {
			known, revision := w.listed(t, "mine", internalversion.ListOptions{})
			return known, w.follow(t, "mine", internalversion.ListOptions{ResourceVersion: revision})
		},
		"watch with what is there": func(t *testing.T, w *world) (follower, watch.Interface) {
			return follower{}, w.follow(t, "mine", internalversion.ListOptions{SendInitialEvents: &yes})
		},
		"list, watch, and watch again after a change": func(t *testing.T, w *world) (follower, watch.Interface) {
			known, revision := w.listed(t, "mine", internalversion.ListOptions{})
			known["a"] = w.firsts(t, "mine")["a"] // as the first watch has told
			w.withdraw(t, 0)
			return known, w.follow(t, "mine", internalversion.ListOptions{ResourceVersion: revision})
		},
	}
	changes := map[string]func(t *testing.T, w *world){
		"nothing changes":              func(*testing.T, *world) {},
		"the first changes":            func(t *testing.T, w *world) { w.publish(t, "mine/own", "a@2.1.0", "b@1.0.0") },
		"the other changes":            func(t *testing.T, w *world) { w.publish(t, "olm/global", "a@1.1.0", "b@1.0.0") },
		"the first has it no more":     func(t *testing.T, w *world) { w.publish(t, "mine/own", "b@1.0.0") },
		"the other has it no more":     func(t *testing.T, w *world) { w.publish(t, "olm/global", "b@1.0.0") },
		"the first catalog is removed": func(t *testing.T, w *world) { w.withdraw(t, 0) },
		"the last catalog is removed":  func(t *testing.T, w *world) { w.withdraw(t, len(w.sources)-1) },
		"the other becomes more important": func(t *testing.T, w *world) {
			w.rename(0, "Renamed")
			w.sources[len(w.sources)-1].Spec.Priority = 9
			w.refresh(t)
		},
	}
	for how, begin := range begins {
		for what, change := range changes {
			t.Run(how+": "+what, func(t *testing.T) {
				w := newWorld(t)
				w.offer(t, "mine/own", "a@2.0.0", "b@1.0.0")
				w.offer(t, "mine/second", "a@3.0.0")
				w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0", "c@1.0.0")
				known, events := begin(t, w)
				change(t, w)
				for quiet := false; !quiet; {
					select {
					case e := <-events.ResultChan():
						p := e.Object.(*packagesv1.PackageManifest)
						if e.Type == watch.Bookmark {
							continue
						}
						known[p.Name] = describe(p)
						if e.Type == watch.Deleted {
							delete(known, p.Name)
						}
					case <-time.After(100 * time.Millisecond):
						quiet = true
					}
				}
				must.Equal(t, "what a get returns", known, w.firsts(t, "mine"))
			})
		}
	}
}

// withdraw removes a catalog.
func (w *world) withdraw(t *testing.T, i int) {
	t.Helper()
	var left []v1alpha1.CatalogSource
	w.sources = append(append(left, w.sources[:i]...), w.sources[i+1:]...)
	w.refresh(t)
}

// TestAnotherProcess goes on with the revision that another process has given, which shows the same.
func TestAnotherProcess(t *testing.T) {
	one, other := newWorld(t), newWorld(t)
	one.offer(t, "olm/global", "a@1.0.0")
	one.publish(t, "olm/global", "a@1.1.0")
	one.publish(t, "olm/global", "a@1.2.0") // its revisions are ahead
	other.offer(t, "olm/global", "a@1.0.0")
	other.publish(t, "olm/global", "a@1.2.0")
	if one.revision() == other.revision() {
		t.Fatal("both processes count the same, which proves nothing")
	}
	known, revision := one.listed(t, "mine", internalversion.ListOptions{})
	events := other.follow(t, "mine", internalversion.ListOptions{ResourceVersion: revision})
	other.publish(t, "olm/global", "a@1.3.0")
	must.NoErrorf(t, known.apply(<-events.ResultChan()), "told")
	must.Contain(t, "told", known["a"], "1.3.0")
	// Back to the first process, which has not noticed yet, and then what nobody has shown.
	_, revision = other.listed(t, "mine", internalversion.ListOptions{})
	if _, err := one.storage.Watch(request.WithNamespace(t.Context(), "mine"), &internalversion.ListOptions{ResourceVersion: revision}); err == nil {
		t.Error("a revision of what was never shown here is taken for one of here")
	}
	one.publish(t, "olm/global", "a@1.3.0")
	events = one.follow(t, "mine", internalversion.ListOptions{ResourceVersion: revision})
	one.publish(t, "olm/global", "a@1.4.0")
	must.NoErrorf(t, known.apply(<-events.ResultChan()), "told")
	must.Contain(t, "told", known["a"], "1.4.0")
}

// TestThePastIsBounded changes a catalog more often than is remembered.
func TestThePastIsBounded(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	_, old := w.listed(t, "mine", internalversion.ListOptions{})
	var recent string
	for i := range 3 * maxPast {
		w.publish(t, "olm/global", fmt.Sprintf("a@2.%d.0", i))
		if i == 3*maxPast-10 {
			recent = w.revision()
		}
	}
	must.Equal(t, "snapshots are kept", len(w.storage.present.before), maxPast)
	for _, s := range w.storage.present.before {
		for _, from := range s.sources {
			if from.index != nil {
				t.Fatal("a snapshot of the past keeps an index open")
			}
		}
	}
	ctx := request.WithNamespace(t.Context(), "mine")
	if _, err := w.storage.Watch(ctx, &internalversion.ListOptions{ResourceVersion: old}); err == nil {
		t.Error("a watch begins at what is not known any more")
	}
	got := next(t, w.follow(t, "mine", internalversion.ListOptions{ResourceVersion: recent}), 1)
	must.Equal(t, "result", got, []string{fmt.Sprintf("MODIFIED a a.v2.%d.0", 3*maxPast-1)})
	if n := len(w.storage.present.docs.packs); n > 2 {
		t.Errorf("the documents of %d contents are kept, want those of the present and of what was before it", n)
	}
}

// TestSelectedWatch tells of a package that begins to be selected that it is there, and of one that ends to be that it is gone.
func TestSelectedWatch(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	w.sources[0].Labels = maps.Clone(w.sources[0].Labels)
	events := w.follow(t, "mine", internalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"of": "other"}), ResourceVersion: w.revision()})
	w.rename(0, "x")
	w.sources[0].Labels = map[string]string{"of": "other"}
	w.refresh(t)
	must.Equal(t, "result", next(t, events, 1), []string{"ADDED a a.v1.0.0"})
	w.rename(0, "x")
	w.sources[0].Labels = nil
	w.refresh(t)
	must.Equal(t, "result", next(t, events, 1), []string{"DELETED a a.v1.0.0"})
}
