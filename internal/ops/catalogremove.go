package ops

import (
	"context"
	"fmt"
	"io"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CatalogRemoval is a catalog that is to be removed, and what depends on it.
type CatalogRemoval struct {
	Catalog InstalledCatalog `json:"catalog"`
	// Dependents use the catalog: each is a kind and a name, with how it does.
	Dependents []CatalogDependent `json:"dependents"`
	// Notes are what else happens, and what could not be read.
	Notes []string `json:"notes,omitempty"`

	uid types.UID
}

// CatalogDependent uses a catalog.
type CatalogDependent struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	How  string `json:"how"`
}

// FindCatalog finds the one catalog of a name: the ClusterCatalog, or the CatalogSource of the namespace. api limits it to v0 or v1; empty is both.
func FindCatalog(ctx context.Context, reader client.Reader, api string, key client.ObjectKey) (*CatalogRemoval, error) {
	var found []*CatalogRemoval
	var refused error
	for _, namespace := range map[string][]string{"": {key.Namespace, ""}, "v0": {key.Namespace}, "v1": {""}}[api] {
		live := emptyCatalog(namespace)
		at := client.ObjectKey{Namespace: namespace, Name: key.Name}
		err := reader.Get(ctx, at, live)
		switch {
		case err == nil:
			found = append(found, &CatalogRemoval{Catalog: viewCatalog(live), Dependents: []CatalogDependent{}, uid: live.GetUID()})
		case apierrors.IsForbidden(err):
			refused = err
		case !apierrors.IsNotFound(err) && !rollout.IsUnknownKind(err):
			return nil, fmt.Errorf("look for catalog %s: %w", strings.TrimPrefix(at.String(), "/"), err)
		}
	}
	switch {
	case len(found) == 2:
		return nil, fmt.Errorf("remove catalog %s: there are %s and %s; say which one is meant with --api v0 or --api v1", key.Name, found[0].Catalog.Describe(), found[1].Catalog.Describe())
	case len(found) == 1:
		return found[0], nil
	case refused != nil:
		return nil, fmt.Errorf("look for catalog %s: %w", key.Name, refused)
	}
	return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("remove catalog %s: namespace %s has no CatalogSource of that name, and there is no such ClusterCatalog", key.Name, key.Namespace),
		Command: "fairlead catalog list -A lists the catalogs"}
}

// Mark names the object that was read: one that was created since under its name has another.
func (r *CatalogRemoval) Mark() string { return string(r.uid) }

// ReadDependents finds what depends on the catalog.
func (r *CatalogRemoval) ReadDependents(ctx context.Context, reader client.Reader) error {
	if r.Catalog.API == "v0" {
		if name, is := strings.CutPrefix(r.Catalog.Source, "ConfigMap "); is {
			r.Notes = append(r.Notes, fmt.Sprintf("ConfigMap %s/%s goes with the last CatalogSource that uses it", r.Catalog.Namespace, name))
		}
		return r.subscriptions(ctx, reader)
	}
	return r.extensions(ctx, reader)
}

// subscriptions adds the Subscriptions that name the CatalogSource: of all namespaces, or of its own where the user may not list all.
func (r *CatalogRemoval) subscriptions(ctx context.Context, reader client.Reader) error {
	var subs v1alpha1.SubscriptionList
	err := reader.List(ctx, &subs)
	if apierrors.IsForbidden(err) {
		r.Notes = append(r.Notes, fmt.Sprintf("only the Subscriptions of namespace %s are checked: you may not list those of all namespaces", r.Catalog.Namespace))
		err = reader.List(ctx, &subs, client.InNamespace(r.Catalog.Namespace))
	}
	if err != nil {
		return fmt.Errorf("list the Subscriptions that use %s: %w", r.Catalog.Describe(), err)
	}
	for i := range subs.Items {
		s := &subs.Items[i]
		if s.Spec == nil || s.Spec.CatalogSource != r.Catalog.Name || s.Spec.CatalogSourceNamespace != r.Catalog.Namespace {
			continue
		}
		how := "asks for package " + s.Spec.Package
		if s.Status.InstalledCSV != "" {
			how += ", and has installed " + s.Status.InstalledCSV
		}
		r.Dependents = append(r.Dependents, CatalogDependent{v1alpha1.SubscriptionKind, s.Namespace + "/" + s.Name, how})
	}
	return nil
}

// extensions adds the ClusterExtensions that have installed a bundle of the ClusterCatalog, or select it.
func (r *CatalogRemoval) extensions(ctx context.Context, reader client.Reader) error {
	var all olmv1.ClusterExtensionList
	var sets olmv1.ClusterObjectSetList
	if err := reader.List(ctx, &all); err != nil {
		return fmt.Errorf("list the ClusterExtensions that use %s: %w", r.Catalog.Describe(), err)
	}
	if err := reader.List(ctx, &sets); err != nil && !apierrors.IsForbidden(err) {
		return fmt.Errorf("list the revisions that came from %s: %w", r.Catalog.Describe(), err)
	} else if err != nil {
		r.Notes = append(r.Notes, "not checked which bundles came from it: "+err.Error())
	}
	live := &olmv1.ClusterCatalog{}
	if err := reader.Get(ctx, client.ObjectKey{Name: r.Catalog.Name}, live); err != nil {
		return fmt.Errorf("read %s: %w", r.Catalog.Describe(), err)
	}
	has := map[string]string{}
	for i := range sets.Items {
		set := &sets.Items[i]
		from, _, _ := strings.Cut(set.Annotations[desired.CatalogKey], "@")
		if from == r.Catalog.Name && set.Spec.LifecycleState != olmv1.LifecycleStateArchived {
			has[revision.NameOf(set)] = set.Annotations[olmv1.BundleNameKey]
		}
	}
	for i := range all.Items {
		e := &all.Items[i]
		switch c := e.Spec.Source.Catalog; {
		case has[e.Name] != "":
			r.Dependents = append(r.Dependents, CatalogDependent{olmv1.ClusterExtensionKind, e.Name, "has installed " + has[e.Name] + " from it"})
		case c != nil && c.Selector != nil && selects(c.Selector, live):
			r.Dependents = append(r.Dependents, CatalogDependent{olmv1.ClusterExtensionKind, e.Name, "selects it, for package " + c.PackageName})
		}
	}
	return nil
}

// selects reports whether a selector finds a catalog, which has the label with its name even before its controller writes it.
func selects(selector *metav1.LabelSelector, c *olmv1.ClusterCatalog) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	has := labels.Set{olmv1.MetadataNameKey: c.Name}
	for k, v := range c.Labels {
		has[k] = v
	}
	return err == nil && !s.Empty() && s.Matches(has)
}

// maxDependents is how many are named.
const maxDependents = 20

// Write prints what is removed, and what depends on it.
func (r *CatalogRemoval) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s) would be removed\n", messages.Clean(r.Catalog.Describe()), messages.Clean(r.Catalog.Source))
	if len(r.Dependents) == 0 {
		b.WriteString("nothing that could be read depends on it\n")
	} else {
		b.WriteString("these keep what is installed, and get nothing newer without it:\n")
	}
	var lines []string
	for _, d := range r.Dependents {
		lines = append(lines, "  "+messages.Clean(fmt.Sprintf("%s %s %s", d.Kind, d.Name, d.How)))
	}
	for _, line := range safetext.First(lines, maxDependents, "  and %d more") {
		b.WriteString(line + "\n")
	}
	for _, note := range r.Notes {
		b.WriteString("note: " + messages.Clean(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Remove deletes the catalog, the one that was read, and waits until it is gone.
func (r *CatalogRemoval) Remove(ctx context.Context, c client.Client, dryRun bool) error {
	o := emptyCatalog(r.Catalog.Namespace)
	o.SetNamespace(r.Catalog.Namespace)
	o.SetName(r.Catalog.Name)
	options := []client.DeleteOption{}
	if r.uid != "" {
		options = append(options, client.Preconditions{UID: &r.uid})
	}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	if err := c.Delete(ctx, o, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove %s: %w", r.Catalog.Describe(), err)
	}
	if dryRun {
		return nil
	}
	err := WaitRemoval(ctx, func() (string, error) {
		live := emptyCatalog(r.Catalog.Namespace)
		err := c.Get(ctx, client.ObjectKeyFromObject(o), live)
		switch {
		case apierrors.IsNotFound(err), err == nil && live.GetUID() != r.uid:
			return "", nil
		case err != nil:
			return "", err
		case len(live.GetFinalizers()) > 0:
			return fmt.Sprintf("it waits for its finalizers %s: is the manager running?", strings.Join(live.GetFinalizers(), ", ")), nil
		}
		return "it is still there", nil
	})
	if err != nil {
		return fmt.Errorf("remove %s: %w", r.Catalog.Describe(), err)
	}
	return nil
}
