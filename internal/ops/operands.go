package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operands are the custom resources of the kinds that installed operators own.
type Operands struct {
	Kinds []OperandKind `json:"kinds"`
	// Notes are what could not be read, and why.
	Notes []string `json:"notes,omitempty"`
}

// OperandKind is a kind that an operator owns, with its custom resources.
type OperandKind struct {
	Kind string `json:"kind"`
	// Definition is the CustomResourceDefinition, and Version the version that was listed.
	Definition string `json:"definition"`
	Version    string `json:"version,omitempty"`
	// Operators own the kind: each is a kind and a name.
	Operators []string `json:"operators"`
	// Count is how many custom resources there are; -1 when they could not be listed.
	Count int          `json:"count"`
	In    []OperandsIn `json:"in,omitempty"`
	// Problem is why there can be no custom resources of it: its operator says something of it that cannot be. Nothing is read then.
	Problem string `json:"problem,omitempty"`
}

// OperandsIn are the custom resources of a kind in a namespace.
type OperandsIn struct {
	// Namespace is empty for custom resources of the cluster.
	Namespace string `json:"namespace,omitempty"`
	Count     int    `json:"count"`
	// Names are the first of them, in order.
	Names []string `json:"names"`
}

// Bounds of what is read.
const (
	operandPage  = 500 // custom resources in one answer of the API server
	operandNames = 100 // of a kind in a namespace that are named
)

// operandReader reads custom resources.
type operandReader struct {
	client.Reader
	namespace string // of the operators; empty for all
	out       Operands
	byKind    map[string]int // index in out.Kinds, by definition
}

// ReadOperands reads the custom resources of the operators of a namespace, or of all when it is empty; with a name of that operator alone: a
// Subscription, a ClusterServiceVersion, a ClusterExtension or a package. Custom resources of all namespaces count, where the user may list them. A copied
// ClusterServiceVersion is an operator that watches the namespace: it counts where a namespace is given.
func ReadOperands(ctx context.Context, reader client.Reader, namespace, name string) (*Operands, error) {
	r := &operandReader{Reader: reader, namespace: namespace, out: Operands{Kinds: []OperandKind{}}, byKind: map[string]int{}}
	v0, err := r.versions(ctx, name)
	if err != nil {
		return nil, err
	}
	v1, err := r.extensions(ctx, name)
	if err != nil {
		return nil, err
	}
	if !v0 && !v1 && namespace != "" {
		if err := Absent(ctx, reader, namespace); err != nil {
			return nil, err
		}
	}
	if name != "" && !v0 && !v1 {
		return nil, noOperator(namespace, name, r.out.Notes)
	}
	slices.SortFunc(r.out.Kinds, func(a, b OperandKind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Definition, b.Definition))
	})
	for i := range r.out.Kinds {
		if err := r.list(ctx, &r.out.Kinds[i]); err != nil {
			return nil, err
		}
	}
	return &r.out, nil
}

func noOperator(namespace, name string, notes []string) error {
	where := "no namespace has"
	if namespace != "" {
		where = "namespace " + namespace + " does not have"
	}
	var err error = &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("list the custom resources of operator %s: %s a Subscription, ClusterServiceVersion or package of that name, and no ClusterExtension is called so", name, where),
		Command: "fairlead list -A lists the operators"}
	for _, note := range notes {
		err = fmt.Errorf("%w; %s", err, note)
	}
	return err
}

// versions adds the kinds that ClusterServiceVersions own. It reports whether there is an operator of the name.
func (r *operandReader) versions(ctx context.Context, name string) (found bool, err error) {
	var versions v1alpha1.ClusterServiceVersionList
	var subs v1alpha1.SubscriptionList
	for _, list := range []client.ObjectList{&versions, &subs} {
		what := "ClusterServiceVersions"
		if list == client.ObjectList(&subs) {
			what = "Subscriptions"
		}
		err := r.List(ctx, list, client.InNamespace(r.namespace))
		switch {
		case rollout.IsUnknownKind(err):
			return false, nil
		case apierrors.IsForbidden(err) && r.namespace == "":
			return false, fmt.Errorf("list the %s of all namespaces: %w; name a namespace that you may read, with -n", what, err)
		case err != nil:
			return false, fmt.Errorf("list the %s of namespace %s: %w", what, r.namespace, err)
		}
	}
	slices.SortStableFunc(versions.Items, func(a, b v1alpha1.ClusterServiceVersion) int { // what is being replaced comes last
		return cmp.Compare(leaving(&a), leaving(&b))
	})
	for i := range versions.Items {
		csv := &versions.Items[i]
		if csv.IsCopied() && r.namespace == "" || name != "" && !r.called(csv, subs.Items, name) {
			continue
		}
		found = true
		operator := v1alpha1.ClusterServiceVersionKind + " " + cmp.Or(csv.Labels[v1alpha1.CopiedFromLabel], csv.Namespace) + "/" + csv.Name
		for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
			r.add(OperandKind{Kind: d.Kind, Definition: d.Name, Version: d.Version}, operator)
		}
	}
	for i := range subs.Items {
		found = found || name != "" && asksFor(&subs.Items[i], name)
	}
	return found, nil
}

func leaving(csv *v1alpha1.ClusterServiceVersion) int {
	if csv.Status.Phase == v1alpha1.CSVPhaseReplacing || csv.Status.Phase == v1alpha1.CSVPhaseDeleting {
		return 1
	}
	return 0
}

// called reports whether a ClusterServiceVersion has a name, or a Subscription of its namespace that has it, or is for a package of that name.
func (r *operandReader) called(csv *v1alpha1.ClusterServiceVersion, subs []v1alpha1.Subscription, name string) bool {
	return csv.Name == name || slices.ContainsFunc(subs, func(s v1alpha1.Subscription) bool {
		return s.Namespace == csv.Namespace && s.Status.InstalledCSV == csv.Name && asksFor(&s, name)
	})
}

func asksFor(s *v1alpha1.Subscription, name string) bool {
	return s.Name == name || s.Spec != nil && s.Spec.Package == name
}

// extensions adds the kinds whose definitions ClusterExtensions have brought. It reports whether there is one of the name.
func (r *operandReader) extensions(ctx context.Context, name string) (found bool, err error) {
	var all olmv1.ClusterExtensionList
	err = r.List(ctx, &all)
	switch {
	case rollout.IsUnknownKind(err):
		return false, nil
	case apierrors.IsForbidden(err):
		r.out.Notes = append(r.out.Notes, messages.Unseen(err, "ClusterExtensions", "the kinds of theirs are not shown"))
		return false, nil
	case err != nil:
		return false, fmt.Errorf("list the ClusterExtensions: %w", err)
	}
	installed := map[string]bool{}
	for i := range all.Items {
		e := &all.Items[i]
		c := e.Spec.Source.Catalog
		if name != "" && e.Name != name && (c == nil || c.PackageName != name) || r.namespace != "" && e.Spec.Namespace != r.namespace && e.Name != name {
			continue
		}
		found, installed[e.Name] = true, true
	}
	if !found {
		return false, nil
	}
	var definitions apiextensionsv1.CustomResourceDefinitionList
	err = r.List(ctx, &definitions, client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind})
	switch {
	case apierrors.IsForbidden(err):
		r.out.Notes = append(r.out.Notes, messages.Unseen(err, "CustomResourceDefinitions", "the kinds of ClusterExtensions are not shown"))
		return true, nil
	case err != nil:
		return true, fmt.Errorf("list the CustomResourceDefinitions of ClusterExtensions: %w", err)
	}
	for i := range definitions.Items {
		d := &definitions.Items[i]
		if of := revision.NameOf(d); installed[of] {
			r.add(OperandKind{Kind: d.Spec.Names.Kind, Definition: d.Name, Version: servedVersion(d)}, olmv1.ClusterExtensionKind+" "+of)
		}
	}
	return true, nil
}

// servedVersion is the stored version where it is served, otherwise another one that is, or none.
func servedVersion(d *apiextensionsv1.CustomResourceDefinition) string {
	version := ""
	for _, v := range d.Spec.Versions {
		if v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	return version
}

// add adds a kind of an operator; several may own one.
func (r *operandReader) add(kind OperandKind, operator string) {
	i, there := r.byKind[kind.Definition]
	if !there {
		i = len(r.out.Kinds)
		r.byKind[kind.Definition] = i
		r.out.Kinds = append(r.out.Kinds, kind)
	}
	if k := &r.out.Kinds[i]; !slices.Contains(k.Operators, operator) {
		k.Operators = append(k.Operators, operator)
	}
}

// list counts the custom resources of a kind. Where those of all namespaces may not be listed, those of the namespace of the operators are.
func (r *operandReader) list(ctx context.Context, kind *OperandKind) error {
	if kind.Problem = kind.misnamed(); kind.Problem != "" {
		kind.Count = -1
		return nil
	}
	_, group, _ := strings.Cut(kind.Definition, ".")
	gvk := schema.GroupVersionKind{Group: group, Version: kind.Version, Kind: kind.Kind + "List"}
	if kind.Version == "" {
		kind.Count = -1
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("the custom resources of %s are not counted: no version of it is served", kind.Definition))
		return nil
	}
	err := r.pages(ctx, kind, gvk, "")
	if apierrors.IsForbidden(err) && r.namespace != "" {
		if err = r.pages(ctx, kind, gvk, r.namespace); err == nil {
			r.out.Notes = append(r.out.Notes, fmt.Sprintf("of %s those of namespace %s alone are counted: you may not list those of all namespaces", kind.Definition, r.namespace))
		}
	}
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		kind.Count, kind.In = -1, nil
		r.out.Notes = append(r.out.Notes, messages.Unseen(err, "the custom resources of "+kind.Definition, "they are not counted"))
	case apierrors.IsNotFound(err), rollout.IsUnknownKind(err):
		kind.Count, kind.In = -1, nil
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("the custom resources of %s are not counted: %v", kind.Definition, err))
	default:
		return fmt.Errorf("list the custom resources of %s: %w", kind.Definition, err)
	}
	return nil
}

// pages lists custom resources page by page, without their content. It begins again, once, where the pages have expired.
func (r *operandReader) pages(ctx context.Context, kind *OperandKind, gvk schema.GroupVersionKind, namespace string) error {
	err := r.read(ctx, kind, gvk, namespace)
	if apierrors.IsResourceExpired(err) {
		err = r.read(ctx, kind, gvk, namespace)
	}
	return err
}

func (r *operandReader) read(ctx context.Context, kind *OperandKind, gvk schema.GroupVersionKind, namespace string) error {
	kind.Count, kind.In = 0, nil
	in := map[string]*OperandsIn{}
	for next := ""; ; {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(gvk)
		if err := r.List(ctx, list, client.InNamespace(namespace), client.Limit(operandPage), client.Continue(next)); err != nil {
			return err
		}
		for i := range list.Items {
			o := &list.Items[i]
			at := in[o.Namespace]
			if at == nil {
				at = &OperandsIn{Namespace: o.Namespace}
				in[o.Namespace] = at
			}
			kind.Count++
			if at.Count++; len(at.Names) < operandNames {
				at.Names = append(at.Names, o.Name)
			}
		}
		if next = list.Continue; next == "" {
			break
		}
	}
	for _, at := range in {
		slices.Sort(at.Names)
		kind.In = append(kind.In, *at)
	}
	slices.SortFunc(kind.In, func(a, b OperandsIn) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return nil
}
