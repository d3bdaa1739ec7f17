package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// existing refuses to pass over a ClusterExtension of the name that says something else, and tells of others for the package.
func (o ExtensionOptions) existing(ctx context.Context, c client.Client, a *AskedExtension) (there bool, err error) {
	var list olmv1.ClusterExtensionList
	if err := c.List(ctx, &list); err != nil {
		return false, fmt.Errorf("list the ClusterExtensions: %w", err)
	}
	for i := range list.Items {
		live := &list.Items[i]
		same := live.Spec.Source.Catalog != nil && live.Spec.Source.Catalog.PackageName == o.Package
		switch {
		case live.Name == a.Extension.Name && !live.DeletionTimestamp.IsZero():
			return false, &messages.AskedError{Lack: messages.NotNow, Part: messages.OfExisting, Text: fmt.Sprintf("install package %s: ClusterExtension %s is being deleted", o.Package, live.Name), Command: "wait until it is gone"}
		case live.Name == a.Extension.Name && same && o.agrees(live, a.Extension):
			there = true
		case live.Name == a.Extension.Name:
			return false, &messages.AskedError{Lack: messages.NotNow, Part: messages.OfExisting,
				Text:    fmt.Sprintf("install package %s: there is ClusterExtension %s already, and it is not the one that would be created", o.Package, live.Name),
				Command: fmt.Sprintf("see it with: kubectl get clusterextension %[1]s -o yaml; change it with: fairlead upgrade %[1]s; or choose another name with --name", live.Name)}
		case same:
			a.Notes = append(a.Notes, fmt.Sprintf("ClusterExtension %s installs package %s, too: of their objects that have the same names, only the first one gets its own", live.Name, o.Package))
		}
	}
	return there, nil
}

// agrees tells whether a ClusterExtension says what another one asks for. What the API fills in does not count, nor do its channels where none are
// asked for.
func (o ExtensionOptions) agrees(live, asked *olmv1.ClusterExtension) bool {
	spec := live.Spec.DeepCopy()
	if len(o.Channels) == 0 {
		spec.Source.Catalog.Channels = asked.Spec.Source.Catalog.Channels
	}
	if asked.Spec.Source.Catalog.UpgradeConstraintPolicy == "" {
		spec.Source.Catalog.UpgradeConstraintPolicy = ""
	}
	for key, value := range asked.Annotations {
		if live.Annotations[key] != value && key != revision.AdoptKey {
			return false
		}
	}
	wanted := asked.Spec.DeepCopy()
	if o.Adopt {
		fill(wanted, spec)
	}
	return equality.Semantic.DeepEqual(*spec, *wanted)
}

// fill copies from an extension what is not asked for: to adopt something changes nothing else.
func fill(wanted, is *olmv1.ClusterExtensionSpec) {
	from, to := is.Source.Catalog, wanted.Source.Catalog
	to.Version = cmp.Or(to.Version, from.Version)
	to.UpgradeConstraintPolicy = cmp.Or(to.UpgradeConstraintPolicy, from.UpgradeConstraintPolicy)
	to.Selector = cmp.Or(to.Selector, from.Selector)
	wanted.ServiceAccount = cmp.Or(wanted.ServiceAccount, is.ServiceAccount)
	wanted.Install = cmp.Or(wanted.Install, is.Install)
	wanted.Config = cmp.Or(wanted.Config, is.Config)
	wanted.ProgressDeadlineMinutes = cmp.Or(wanted.ProgressDeadlineMinutes, is.ProgressDeadlineMinutes)
}

// AdoptsInto reports whether only a ClusterExtension that is there is given leave to adopt, so that nothing has to be looked up for it, and goes into its
// namespace where none was chosen. Without a name, which the bundle of an image may yet give, there is none.
func (o *ExtensionOptions) AdoptsInto(ctx context.Context, c client.Client) (bool, error) {
	name := cmp.Or(o.Name, o.Package)
	if !o.Adopt || name == "" {
		return false, nil
	}
	live := &olmv1.ClusterExtension{}
	err := c.Get(ctx, client.ObjectKey{Name: name}, live)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read ClusterExtension %s, to let it adopt what exists: %w", name, err)
	}
	o.Namespace = cmp.Or(o.Namespace, live.Spec.Namespace)
	return true, nil
}

// adopt lets a ClusterExtension that is there have what exists and has no owner.
func (o ExtensionOptions) adopt(ctx context.Context, c client.Client, a *AskedExtension) error {
	change := ExtensionChange{DryRun: o.DryRun, Annotations: func(*olmv1.ClusterExtension) map[string]string { return map[string]string{revision.AdoptKey: "true"} }}
	e, said, err := ChangeExtension(ctx, c, a.Extension.Name, change)
	if err != nil {
		return err
	}
	a.Extension, a.Adopting = e, len(said) > 0
	return nil
}

// Place refuses where there is no place for what is to be installed, as Extend does, before the package is known.
func (o ExtensionOptions) Place(ctx context.Context, c client.Client) error {
	_, err := o.missing(ctx, c, &AskedExtension{})
	return err
}

// missing tells whether the namespace is to be created, and refuses where something else is missing.
func (o ExtensionOptions) missing(ctx context.Context, c client.Client, a *AskedExtension) (namespace bool, err error) {
	var problems []error
	err = c.Get(ctx, client.ObjectKey{Name: o.Namespace}, &corev1.Namespace{})
	switch {
	case apierrors.IsForbidden(err): // a user who may not look may yet be right
	case apierrors.IsNotFound(err):
		if namespace = o.CreateNamespace; !namespace {
			problems = append(problems, &messages.AskedError{Lack: messages.NotThere, Part: messages.OfPlace, Text: "there is no namespace " + o.Namespace, Command: "add --create-namespace, or choose another one with --namespace"})
		}
	case err != nil:
		return false, fmt.Errorf("look for namespace %s: %w", o.Namespace, err)
	}
	if o.ServiceAccount != "" {
		err := c.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.ServiceAccount}, &corev1.ServiceAccount{})
		switch {
		case apierrors.IsForbidden(err):
		case apierrors.IsNotFound(err):
			problems = append(problems, &messages.AskedError{Lack: messages.NotThere, Part: messages.OfAccount, Text: fmt.Sprintf("there is no ServiceAccount %s in namespace %s", o.ServiceAccount, o.Namespace),
				Command: fmt.Sprintf("create it with: kubectl -n %s create serviceaccount %s; and let it do what the operator's objects need, which the status of the ClusterExtension lists", o.Namespace, o.ServiceAccount)})
		case err != nil:
			return false, fmt.Errorf("look for ServiceAccount %s/%s: %w", o.Namespace, o.ServiceAccount, err)
		}
	}
	if o.Image == "" {
		problems = append(problems, o.noCatalog(ctx, c, a))
	}
	if err := errors.Join(problems...); err != nil {
		if o.Package == "" {
			return false, fmt.Errorf("install image %s: %w", o.Image, err)
		}
		return false, fmt.Errorf("install package %s: %w", o.Package, err)
	}
	return namespace, nil
}

// noCatalog is an error when none of the ClusterCatalogs is asked.
func (o ExtensionOptions) noCatalog(ctx context.Context, c client.Client, a *AskedExtension) error {
	names, selected, err := o.catalogs(ctx, c)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalogs, Text: "there is no ClusterCatalog", Command: "create one with fairlead catalog add NAME IMAGE --api v1, or name the image of a bundle with --image"}
	case len(selected) == 0:
		return &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalog, Text: "none of the ClusterCatalogs is selected; there is " + strings.Join(names, ", ")}
	case len(selected) < len(o.Catalogs):
		missing := slices.DeleteFunc(slices.Clone(o.Catalogs), func(name string) bool { return slices.Contains(names, name) })
		a.Notes = append(a.Notes, "there is no ClusterCatalog "+strings.Join(missing, ", "))
	}
	return nil
}

// Selected are the names of the ClusterCatalogs that are asked.
func (o ExtensionOptions) Selected(ctx context.Context, c client.Client) ([]string, error) {
	_, selected, err := o.catalogs(ctx, c)
	return selected, err
}

// catalogs are the names of all ClusterCatalogs, and of those that are asked.
func (o ExtensionOptions) catalogs(ctx context.Context, c client.Client) (names, selected []string, err error) {
	var list olmv1.ClusterCatalogList
	if err := c.List(ctx, &list); err != nil {
		return nil, nil, fmt.Errorf("list the ClusterCatalogs: %w", err)
	}
	selector, err := metav1.LabelSelectorAsSelector(cmp.Or(o.selector(), &metav1.LabelSelector{}))
	if err != nil {
		return nil, nil, fmt.Errorf("the selector of catalogs: %w", err)
	}
	for _, catalog := range list.Items {
		names = append(names, catalog.Name)
		labelled := maps.Clone(catalog.Labels)
		if labelled == nil {
			labelled = map[string]string{}
		}
		labelled[olmv1.MetadataNameKey] = catalog.Name // which the manager adds
		if selector.Matches(labels.Set(labelled)) {
			selected = append(selected, catalog.Name)
		}
	}
	return names, selected, nil
}
