package packageserver

import (
	"context"
	"slices"
	"testing"
	"time"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// fromList stands for the resource version of a list.
const fromList = "from the list"

// rename gives a catalog another name for people.
func (w *world) rename(i int, to string) {
	w.sources = slices.Clone(w.sources)
	w.sources[i].Spec.DisplayName = to
}

// follow begins to watch a namespace.
func (w *world) follow(t *testing.T, namespace string, o internalversion.ListOptions) watch.Interface {
	t.Helper()
	events := must.Value(w.storage.Watch(request.WithNamespace(t.Context(), namespace), &o))(t)
	t.Cleanup(events.Stop)
	return events
}

// next are the next n events, as TYPE name csv.
func next(t *testing.T, events watch.Interface, n int) []string {
	t.Helper()
	got := []string{}
	for range n {
		select {
		case e, ok := <-events.ResultChan():
			if !ok {
				t.Fatalf("the watch ended after %v", got)
			}
			p, _ := e.Object.(*packagesv1.PackageManifest)
			text := string(e.Type)
			if p != nil && p.Name != "" {
				text += " " + p.Name
			}
			if p != nil && len(p.Status.Channels) > 0 {
				text += " " + p.Status.Channels[0].CurrentCSV
			}
			if p != nil && p.Annotations[metav1.InitialEventsAnnotationKey] != "" {
				text += " initial"
			}
			got = append(got, text)
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing more comes after %v", got)
		}
	}
	select {
	case e := <-events.ResultChan():
		t.Errorf("after %v something more comes: %v", got, e)
	case <-time.After(50 * time.Millisecond):
	}
	return got
}

func TestWatch(t *testing.T) {
	yes := true
	tests := map[string]struct {
		options internalversion.ListOptions
		change  func(t *testing.T, w *world)
		initial []string
		want    []string
	}{
		"what there is comes first": {initial: []string{"ADDED a a.v1.0.0", "ADDED b b.v1.0.0"}, change: func(*testing.T, *world) {}, want: []string{}},
		"a catalog is exchanged": {
			initial: []string{"ADDED a a.v1.0.0", "ADDED b b.v1.0.0"},
			change:  func(t *testing.T, w *world) { w.publish(t, "olm/global", "b@1.1.0", "c@1.0.0") },
			want:    []string{"DELETED a a.v1.0.0", "MODIFIED b b.v1.1.0", "ADDED c c.v1.0.0"},
		},
		"from the present on": {
			options: internalversion.ListOptions{ResourceVersion: fromList, AllowWatchBookmarks: true},
			change:  func(t *testing.T, w *world) { w.publish(t, "olm/global", "a@1.0.0", "b@1.1.0") },
			want:    []string{"MODIFIED b b.v1.1.0", "BOOKMARK"},
		},
		"as informers do": {
			options: internalversion.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
			initial: []string{"ADDED a a.v1.0.0", "ADDED b b.v1.0.0", "BOOKMARK initial"},
			change:  func(t *testing.T, w *world) { w.publish(t, "olm/global", "a@1.0.0") },
			want:    []string{"DELETED b b.v1.0.0", "BOOKMARK"},
		},
		"what is not selected": {
			options: internalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"catalog": "other"})},
			change:  func(t *testing.T, w *world) { w.publish(t, "olm/global", "c@1.0.0") },
			want:    []string{},
		},
		"the catalog gets another name for people": {
			options: internalversion.ListOptions{ResourceVersion: fromList},
			change: func(t *testing.T, w *world) {
				w.rename(0, "New")
				w.refresh(t)
			},
			want: []string{"MODIFIED a a.v1.0.0", "MODIFIED b b.v1.0.0"},
		},
		"a catalog of the namespace covers a global one, and goes": {
			options: internalversion.ListOptions{ResourceVersion: fromList},
			change: func(t *testing.T, w *world) {
				w.offer(t, "mine/own", "a@2.0.0")
			},
			want: []string{"MODIFIED a a.v2.0.0"},
		},
		"the namespace does without global ones": {
			options: internalversion.ListOptions{ResourceVersion: fromList},
			change: func(t *testing.T, w *world) {
				w.excludes["mine"] = true
				w.refresh(t)
			},
			want: []string{"DELETED a a.v1.0.0", "DELETED b b.v1.0.0"},
		},
		"nothing that is shown changes": {
			options: internalversion.ListOptions{ResourceVersion: fromList},
			change:  func(t *testing.T, w *world) { w.refresh(t) },
			want:    []string{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0")
			if test.options.ResourceVersion == fromList {
				test.options.ResourceVersion = w.revision()
			}
			events := w.follow(t, "mine", test.options)
			if len(test.initial) > 0 {
				if diff := cmp.Diff(test.initial, next(t, events, len(test.initial))); diff != "" {
					t.Fatalf("at first (-want +got):\n%s", diff)
				}
			}
			test.change(t, w)
			must.Equal(t, "result", next(t, events, len(test.want)), test.want)
		})
	}
}

func TestWatchFromThePast(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	_, err := w.storage.Watch(request.WithNamespace(t.Context(), "mine"), &internalversion.ListOptions{ResourceVersion: "1000"})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a revision of before: %v, want one that makes clients list again", err)
	}
	_, err = w.storage.Watch(request.WithNamespace(t.Context(), "mine"), &internalversion.ListOptions{ResourceVersion: revisionText(1 << 62)})
	if err == nil || !apierrors.IsTimeout(err) {
		t.Errorf("a revision that was never given: %v", err)
	}
}

func TestWatchEnds(t *testing.T) {
	for name, end := range map[string]func(w *world, stop context.CancelFunc, events watch.Interface){
		"with its request": func(_ *world, stop context.CancelFunc, _ watch.Interface) { stop() },
		"with the server":  func(w *world, _ context.CancelFunc, _ watch.Interface) { w.end() },
		"when stopped":     func(_ *world, _ context.CancelFunc, events watch.Interface) { events.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.offer(t, "olm/global", "a@1.0.0")
			ctx, stop := context.WithCancel(request.WithNamespace(t.Context(), "mine"))
			defer stop()
			events, err := w.storage.Watch(ctx, nil) // nobody reads the first event
			must.NoError(t, err)
			end(w, stop, events)
			deadline := time.After(10 * time.Second)
			for {
				select {
				case _, open := <-events.ResultChan():
					if open {
						continue
					}
				case <-deadline:
					t.Fatal("the watch goes on")
				}
				break
			}
		})
	}
}
