package ops

import (
	"context"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestChangeCatalog: of both APIs, what is said and nothing else; a dry run changes nothing, and what contradicts itself is refused.
func TestChangeCatalog(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(n int) *int { return &n }
	every := func(d time.Duration) *time.Duration { return &d }
	for name, test := range map[string]struct {
		change CatalogChange
		v0, v1 string // what is said, or, after a !, the error
	}{
		"nothing":         {CatalogChange{}, "", ""},
		"as it is":        {CatalogChange{Priority: number(0)}, "", ""},
		"another image":   {CatalogChange{Image: text("registry.example.com/cat:v2")}, "image: registry.example.com/cat:v1 -> registry.example.com/cat:v2", "image: registry.example.com/toys:v1 -> registry.example.com/cat:v2"},
		"no image":        {CatalogChange{Image: text("")}, "!can be given another image only where it has one", "!can be given another image"},
		"a priority":      {CatalogChange{Priority: number(-5)}, "priority: 0 -> -5", "priority: 0 -> -5"},
		"too high":        {CatalogChange{Priority: number(1 << 40)}, "!it has to be between", "!it has to be between"},
		"an interval":     {CatalogChange{Poll: every(10 * time.Minute)}, "poll: 0s -> 10m0s", "poll: 0s -> 10m0s"},
		"seconds":         {CatalogChange{Poll: every(time.Second)}, "!an interval of a minute or more is needed", "!an interval of a minute or more is needed"},
		"by digest":       {CatalogChange{Image: text("registry.example.com/cat@" + someDigest), Poll: every(time.Hour)}, "!it is named by its digest", "!it is named by its digest"},
		"secrets":         {CatalogChange{Secrets: &[]string{"a", "b"}}, "pull secrets: (nothing) -> a, b", "!pulled with the pull secrets of the manager"},
		"unavailable":     {CatalogChange{Availability: text("Unavailable")}, "!only a ClusterCatalog can be made unavailable", "availability: (nothing) -> Unavailable"},
		"neither":         {CatalogChange{Availability: text("Maybe")}, "!only a ClusterCatalog", "!it is Available or Unavailable"},
		"several at once": {CatalogChange{Priority: number(1), Poll: every(time.Hour)}, "priority: 0 -> 1; poll: 0s -> 1h0m0s", "priority: 0 -> 1; poll: 0s -> 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			source, clustered := aCatalogSource("olm", "cat"), aClusterCatalog("cat")
			for _, o := range []client.Object{source, clustered} {
				want := test.v0
				if o == client.Object(clustered) {
					want = test.v1
				}
				c := catalogCluster(t, nil, source.DeepCopy(), clustered.DeepCopy())
				key := client.ObjectKeyFromObject(o)
				live := func() string {
					o := emptyCatalog(key.Namespace)
					must.NoError(t, c.Get(t.Context(), key, o))
					return o.GetResourceVersion()
				}
				before := live()
				dry := test.change
				dry.DryRun = true
				_, said, err := ChangeCatalog(t.Context(), c, key, dry)
				must.Equal(t, "written by a dry run", live(), before)
				if reason, refused := strings.CutPrefix(want, "!"); refused {
					must.Fail(t, name, err, reason, "change ")
					_, _, err = ChangeCatalog(t.Context(), c, key, test.change)
					must.Fail(t, name, err, reason)
					must.Equal(t, "written", live(), before)
					continue
				}
				must.NoError(t, err)
				must.Equal(t, "said by a dry run", strings.Join(said, "; "), want)
				is, said, err := ChangeCatalog(t.Context(), c, key, test.change)
				must.NoError(t, err)
				must.Equal(t, "said", strings.Join(said, "; "), want)
				must.Equal(t, "written", live() != before, want != "")
				_, said, err = ChangeCatalog(t.Context(), c, key, test.change)
				must.NoError(t, err)
				must.Equal(t, "said once more", len(said), 0)
				must.Equal(t, "name", is.Name, "cat")
			}
		})
	}
}

// TestChangeKeepsTheRest: fields that are not changed stay as they are written, and an interval can be taken away.
func TestChangeKeepsTheRest(t *testing.T) {
	source, clustered := aCatalogSource("olm", "cat"), aClusterCatalog("cat")
	source.Spec.DisplayName, source.Spec.Secrets = "My catalog", []string{"pull"}
	source.Spec.UpdateStrategy = must.Parse[*v1alpha1.UpdateStrategy](t, `{"registryPoll": {"interval": "90s"}}`)
	minutes := 15
	clustered.Spec.Source.Image.PollIntervalMinutes, clustered.Spec.AvailabilityMode = &minutes, olmv1.AvailabilityModeAvailable
	c := catalogCluster(t, nil, source, clustered)
	priority, never := 7, time.Duration(0)
	for _, o := range []client.Object{source, clustered} {
		_, _, err := ChangeCatalog(t.Context(), c, client.ObjectKeyFromObject(o), CatalogChange{Priority: &priority})
		must.NoError(t, err)
		must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	}
	must.Equal(t, "CatalogSource", []any{source.Spec.DisplayName, source.Spec.Secrets, viewSource(source).Poll, source.Spec.Priority}, []any{"My catalog", []string{"pull"}, "1m30s", 7})
	must.Equal(t, "ClusterCatalog", []any{viewClusterCatalog(clustered).Poll, viewClusterCatalog(clustered).Availability, int(clustered.Spec.Priority)}, []any{"15m0s", "Available", 7})
	for _, o := range []client.Object{source, clustered} {
		is, said, err := ChangeCatalog(t.Context(), c, client.ObjectKeyFromObject(o), CatalogChange{Poll: &never})
		must.NoError(t, err)
		must.Equal(t, "interval", is.Poll, "")
		must.Equal(t, "said", len(said), 1)
	}
	_, _, err := ChangeCatalog(t.Context(), c, client.ObjectKey{Name: "none"}, CatalogChange{})
	must.Fail(t, "one that is not there", err, "read catalog none")
}

// TestChangeBetweenOthers: another client's write in between is kept, and the change is made on top of it.
func TestChangeBetweenOthers(t *testing.T) {
	source := aCatalogSource("olm", "cat")
	inner := catalogCluster(t, nil, source).(client.WithWatch)
	others := 2
	c := interceptor.NewClient(inner, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
		if others--; others >= 0 {
			return apierrors.NewConflict(schema.GroupResource{Resource: "catalogsources"}, o.GetName(), nil)
		}
		return c.Patch(ctx, o, patch, options...)
	}})
	priority := 3
	_, said, err := ChangeCatalog(t.Context(), c, client.ObjectKeyFromObject(source), CatalogChange{Priority: &priority})
	must.NoError(t, err)
	must.Equal(t, "said", said, []string{"priority: 0 -> 3"})
	others = 100
	priority = 4
	_, _, err = ChangeCatalog(t.Context(), c, client.ObjectKeyFromObject(source), CatalogChange{Priority: &priority})
	must.Fail(t, "others write all the time", err, "try again")
}
