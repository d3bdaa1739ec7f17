package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// Trace is how an object comes to be in the cluster: each link is the reason for the one before, from the object to the decision.
type Trace struct {
	Links []TraceLink `json:"links"`
	// Managed is false when no operator brought the object, or that is not known.
	Managed bool `json:"managed"`
	// Unknown says that the user may not see whether one did.
	Unknown bool `json:"unknown,omitempty"`
}

// TraceLink is a step of the way.
type TraceLink struct {
	// Kind and Name are those of an object, with its namespace as NAMESPACE/NAME; Kind is Bundle, Catalog or Decision for what is no object.
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	// How it is responsible for the link before.
	How string `json:"how,omitempty"`
	// Detail is what else is known of it.
	Detail string `json:"detail,omitempty"`
}

// Kinds of links that are no objects.
const (
	traceBundle   = "Bundle"
	traceCatalog  = "Catalog"
	traceDecision = "Decision"
)

// maxOwners bounds how many owners are followed upwards.
const maxOwners = 10

// tracer follows an object to what decided on it.
type tracer struct {
	client.Reader
	out Trace
}

// TraceObject follows an object of a cluster: its owners, the ClusterServiceVersion or revision that it is a part of, the bundle, the catalog with its
// digest, and the decision. An object that belongs to a namespace needs one in key.
func TraceObject(ctx context.Context, c client.Reader, kind schema.GroupVersionKind, key client.ObjectKey) (*Trace, error) {
	t := &tracer{Reader: c}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	if err := c.Get(ctx, key, o); err != nil {
		return nil, fmt.Errorf("trace %s %s: %w", kind.Kind, key, err)
	}
	t.add(kind.Kind, o, "", "")
	for range maxOwners {
		done, next, err := t.follow(ctx, o)
		if err != nil {
			return nil, err
		}
		if done || next == nil {
			return &t.out, nil
		}
		o = next
	}
	return &t.out, nil
}

func (t *tracer) add(kind string, o client.Object, how, detail string) {
	t.out.Links = append(t.out.Links, TraceLink{Kind: kind, Name: nameOf(o), How: how, Detail: detail})
}

// hidden adds a link to an object that the user may not see.
func (t *tracer) hidden(kind, how, why string) {
	t.out.Links = append(t.out.Links, TraceLink{Kind: kind, How: how, Detail: why})
}

// seen reports whether a link is there already.
func (t *tracer) seen(kind, name string) bool {
	return slices.ContainsFunc(t.out.Links, func(l TraceLink) bool { return l.Kind == kind && l.Name == name })
}

func nameOf(o client.Object) string {
	return strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")
}

// follow makes the next step from an object. It is done where an operator was found.
func (t *tracer) follow(ctx context.Context, o *metav1.PartialObjectMetadata) (done bool, next *metav1.PartialObjectMetadata, err error) {
	switch o.Kind {
	case v1alpha1.ClusterServiceVersionKind:
		return true, nil, t.version(ctx, client.ObjectKeyFromObject(o))
	case olmv1.ClusterObjectSetKind:
		return true, nil, t.revision(ctx, o.Name)
	case v1alpha1.SubscriptionKind:
		sub := &v1alpha1.Subscription{}
		if err := t.Get(ctx, client.ObjectKeyFromObject(o), sub); err != nil {
			return false, nil, fmt.Errorf("read Subscription %s: %w", nameOf(o), err)
		}
		t.out.Managed = true
		return true, nil, t.decided(ctx, sub.Namespace, cmp.Or(sub.Status.InstalledCSV, sub.Status.CurrentCSV))
	case olmv1.ClusterExtensionKind:
		return true, nil, t.extension(ctx, o.Name)
	}
	if name := revision.NameOf(o); name != "" { // an object of an extension names it
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == olmv1.ClusterObjectSetKind {
			return true, nil, t.revision(ctx, owner.Name)
		}
		err := t.extension(ctx, name)
		if apierrors.IsForbidden(err) {
			t.out.Links = append(t.out.Links, TraceLink{Kind: olmv1.ClusterExtensionKind, Name: name, How: "owns it", Detail: messages.Unseen(err, "it", "what it has installed is not known")})
			t.out.Managed, err = true, nil
		}
		return true, nil, err
	}
	if o.Labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && o.Labels[v1alpha1.OwnerLabel] != "" {
		return true, nil, t.version(ctx, client.ObjectKey{Namespace: cmp.Or(o.Labels[v1alpha1.OwnerNamespaceLabel], o.Namespace), Name: o.Labels[v1alpha1.OwnerLabel]})
	}
	owner := metav1.GetControllerOf(o)
	if owner == nil && len(o.OwnerReferences) > 0 {
		owner = &o.OwnerReferences[0]
	}
	if owner != nil {
		next, err := t.owner(ctx, o, owner)
		return false, next, err
	}
	if o.Kind == "CustomResourceDefinition" {
		return true, nil, t.definition(ctx, o)
	}
	next, err = t.definitionOf(ctx, o)
	return false, next, err
}

// owning finds the ClusterServiceVersion of the namespace, or the copy of one, that owns the kind of a custom resource whose definition the user may
// not read. Where these may not be read either, the trace ends with a note.
func (t *tracer) owning(ctx context.Context, o *metav1.PartialObjectMetadata, refused error) error {
	of := o.GroupVersionKind()
	link := TraceLink{Kind: "CustomResourceDefinition", How: "defines it", Detail: messages.Unseen(refused, "CustomResourceDefinitions", "who brought that of "+of.Kind+" is not known")}
	var all v1alpha1.ClusterServiceVersionList
	if o.Namespace != "" {
		err := t.List(ctx, &all, client.InNamespace(o.Namespace))
		switch {
		case apierrors.IsForbidden(err):
			link.Detail = messages.Unseen(refused, "CustomResourceDefinitions, and ClusterServiceVersions of namespace "+o.Namespace+",", "who brought that of "+of.Kind+" is not known")
		case err != nil && !rollout.IsUnknownKind(err):
			return fmt.Errorf("find the ClusterServiceVersion that owns %s: %w", of.Kind, err)
		}
	}
	for i := range all.Items {
		for _, d := range all.Items[i].Spec.CustomResourceDefinitions.Owned {
			if _, group, _ := strings.Cut(d.Name, "."); d.Kind == of.Kind && group == of.Group {
				link.Name, link.Detail = d.Name, messages.Unseen(refused, "CustomResourceDefinitions", "the ClusterServiceVersion that owns it is followed")
				t.out.Links = append(t.out.Links, link)
				return t.version(ctx, client.ObjectKeyFromObject(&all.Items[i]))
			}
		}
	}
	t.out.Unknown = true
	t.out.Links = append(t.out.Links, link)
	return nil
}

// owner reads the owner of an object.
func (t *tracer) owner(ctx context.Context, o *metav1.PartialObjectMetadata, ref *metav1.OwnerReference) (*metav1.PartialObjectMetadata, error) {
	owner := &metav1.PartialObjectMetadata{}
	owner.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := t.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: ref.Name}, owner)
	if apierrors.IsNotFound(err) && o.Namespace != "" { // of cluster scope
		err = t.Get(ctx, client.ObjectKey{Name: ref.Name}, owner)
	}
	switch {
	case apierrors.IsNotFound(err):
		t.out.Links = append(t.out.Links, TraceLink{Kind: ref.Kind, Name: ref.Name, How: "owns it", Detail: "it is gone: the garbage collector removes what it owned"})
		return nil, nil
	case apierrors.IsForbidden(err):
		t.out.Unknown = true
		t.out.Links = append(t.out.Links, TraceLink{Kind: ref.Kind, Name: ref.Name, How: "owns it", Detail: messages.Unseen(err, "it", "what brought it is not known")})
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s, which owns %s %s: %w", ref.Kind, ref.Name, o.Kind, nameOf(o), err)
	}
	if owner.Kind != v1alpha1.ClusterServiceVersionKind && owner.Kind != olmv1.ClusterObjectSetKind { // these are added with what is known of them
		t.add(ref.Kind, owner, "owns it", "")
	}
	return owner, nil
}

// definitionOf finds the CustomResourceDefinition of a custom resource.
func (t *tracer) definitionOf(ctx context.Context, o *metav1.PartialObjectMetadata) (*metav1.PartialObjectMetadata, error) {
	of := o.GroupVersionKind()
	if of.Group == "" {
		return nil, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
	if err := t.List(ctx, list); apierrors.IsForbidden(err) {
		return nil, t.owning(ctx, o, err)
	} else if err != nil {
		return nil, fmt.Errorf("find the CustomResourceDefinition of %s: %w", of.Kind, err)
	}
	kind := strings.ToLower(of.Kind)
	for i := range list.Items { // its name is PLURAL.GROUP
		d := &list.Items[i]
		plural, group, _ := strings.Cut(d.Name, ".")
		if group == of.Group && (plural == kind || plural == kind+"s" || plural == kind+"es" || strings.TrimSuffix(plural, "ies")+"y" == kind) {
			d.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
			t.add(d.Kind, d, "defines it", "a person or a program created the custom resource; what follows is who brought its definition")
			return d, nil
		}
	}
	return nil, nil
}

// definition finds the operator of a CustomResourceDefinition by its component label, which names package and namespace.
func (t *tracer) definition(ctx context.Context, o *metav1.PartialObjectMetadata) error {
	var versions v1alpha1.ClusterServiceVersionList
	err := t.List(ctx, &versions)
	switch {
	case apierrors.IsForbidden(err):
		t.out.Unknown = true
		t.hidden(v1alpha1.ClusterServiceVersionKind, "owns it", messages.Unseen(err, "ClusterServiceVersions of all namespaces", "which one owns it is not known"))
		return nil
	case err != nil && !rollout.IsUnknownKind(err):
		return fmt.Errorf("find the ClusterServiceVersion that owns CustomResourceDefinition %s: %w", o.Name, err)
	}
	for i := range versions.Items {
		csv := &versions.Items[i]
		owned := func(d v1alpha1.CRDDescription) bool { return d.Name == o.Name }
		if !csv.IsCopied() && slices.ContainsFunc(csv.Spec.CustomResourceDefinitions.Owned, owned) {
			return t.version(ctx, client.ObjectKeyFromObject(csv))
		}
	}
	return nil
}

// version adds a ClusterServiceVersion and what it follows from.
func (t *tracer) version(ctx context.Context, key client.ObjectKey) error {
	t.out.Managed = true
	csv := &v1alpha1.ClusterServiceVersion{}
	err := t.Get(ctx, key, csv)
	switch {
	case apierrors.IsNotFound(err):
		t.out.Links = append(t.out.Links, TraceLink{Kind: v1alpha1.ClusterServiceVersionKind, Name: key.String(), How: "owns it", Detail: "it is gone"})
	case apierrors.IsForbidden(err):
		t.out.Links = append(t.out.Links, TraceLink{Kind: v1alpha1.ClusterServiceVersionKind, Name: key.String(), How: "owns it", Detail: messages.Unseen(err, "it", "what asks for it is not known")})
		return nil
	case err != nil:
		return fmt.Errorf("read ClusterServiceVersion %s: %w", key, err)
	case csv.IsCopied() && csv.Labels[v1alpha1.CopiedFromLabel] != "":
		from := csv.Labels[v1alpha1.CopiedFromLabel]
		t.describe(csv, "", "a copy of the one in namespace "+from)
		return t.version(ctx, client.ObjectKey{Namespace: from, Name: csv.Name})
	default:
		t.describe(csv, "owns it", string(csv.Status.Phase))
	}
	return t.decided(ctx, key.Namespace, key.Name)
}

// describe adds a ClusterServiceVersion with what is known of it. Where it is the object that is traced, its link is there already.
func (t *tracer) describe(csv *v1alpha1.ClusterServiceVersion, how, detail string) {
	if last := &t.out.Links[len(t.out.Links)-1]; last.Kind == v1alpha1.ClusterServiceVersionKind && last.Name == nameOf(csv) {
		last.Detail = detail
		return
	}
	t.add(v1alpha1.ClusterServiceVersionKind, csv, how, detail)
}

// decided adds the InstallPlan of a ClusterServiceVersion, its Subscription, the bundle, the catalog and the decision.
func (t *tracer) decided(ctx context.Context, namespace, csv string) error {
	var subs v1alpha1.SubscriptionList
	switch err := t.List(ctx, &subs, client.InNamespace(namespace)); {
	case apierrors.IsForbidden(err):
		t.hidden(v1alpha1.SubscriptionKind, "asks for it", messages.Unseen(err, "Subscriptions of namespace "+namespace, "which one asks for it is not known"))
	case err != nil:
		return fmt.Errorf("list the Subscriptions of namespace %s: %w", namespace, err)
	}
	for i := range subs.Items {
		if sub := &subs.Items[i]; csv != "" && (sub.Status.InstalledCSV == csv || sub.Status.CurrentCSV == csv) && sub.Spec != nil {
			if !t.seen(v1alpha1.SubscriptionKind, nameOf(sub)) {
				t.add(v1alpha1.SubscriptionKind, sub, "asks for it", fmt.Sprintf("package %s, channel %s of catalog %s/%s", sub.Spec.Package, cmp.Or(sub.Spec.Channel, "any"), sub.Spec.CatalogSourceNamespace, sub.Spec.CatalogSource))
			}
			break
		}
	}
	var plans v1alpha1.InstallPlanList
	switch err := t.List(ctx, &plans, client.InNamespace(namespace)); {
	case apierrors.IsForbidden(err):
		t.hidden(v1alpha1.InstallPlanKind, "installed it", messages.Unseen(err, "InstallPlans of namespace "+namespace, "what was decided is not known"))
		return nil
	case err != nil:
		return fmt.Errorf("list the InstallPlans of namespace %s: %w", namespace, err)
	}
	slices.SortFunc(plans.Items, func(a, b v1alpha1.InstallPlan) int { return cmp.Compare(b.Spec.Generation, a.Spec.Generation) })
	for i := range plans.Items {
		plan := &plans.Items[i]
		if !slices.Contains(plan.Spec.ClusterServiceVersionNames, csv) {
			continue
		}
		t.add(v1alpha1.InstallPlanKind, plan, "installed it", fmt.Sprintf("%s, approval %s", cmp.Or(string(plan.Status.Phase), "new"), plan.Spec.Approval))
		t.planned(plan, csv)
		return nil
	}
	t.out.Links = append(t.out.Links, TraceLink{Kind: traceDecision, Detail: fmt.Sprintf("no InstallPlan of namespace %s that installed %s is there any more: it was created by hand, or its plan was deleted", namespace, cmp.Or(csv, "it"))})
	return nil
}

// planned adds what a plan says about where a ClusterServiceVersion comes from.
func (t *tracer) planned(plan *v1alpha1.InstallPlan, csv string) {
	source := ""
	for _, l := range plan.Status.BundleLookups {
		if l.Identifier == csv {
			if l.CatalogSourceRef != nil {
				source = l.CatalogSourceRef.Namespace + "/" + l.CatalogSourceRef.Name
			}
			t.out.Links = append(t.out.Links, TraceLink{Kind: traceBundle, Name: csv, How: "holds its manifests", Detail: l.Path})
		}
	}
	var record resolution.NamespaceRecord
	if json.Unmarshal([]byte(plan.Annotations[resolution.DecisionAnnotation]), &record) != nil {
		t.source(source, "")
		return
	}
	for _, choice := range record.Outcome.Install {
		if choice.Name != csv {
			continue
		}
		t.source(choice.Catalog, digestIn(record.Catalogs, choice.Catalog))
		text := fmt.Sprintf("version %s from channel %s", choice.Version, choice.Channel)
		if choice.For == resolution.ForDependency {
			text += ", because another operator needs it"
		}
		if choice.Replaces != "" {
			text += ", in place of " + choice.Replaces
		}
		t.out.Links = append(t.out.Links, TraceLink{Kind: traceDecision, Detail: text})
		return
	}
	t.source(source, digestIn(record.Catalogs, source))
}

func digestIn(catalogs []resolution.RecordedSource, name string) string {
	for _, c := range catalogs {
		if c.Name == name {
			return c.Digest
		}
	}
	return ""
}

// source adds a catalog.
func (t *tracer) source(name, digest string) {
	if name != "" {
		t.out.Links = append(t.out.Links, TraceLink{Kind: traceCatalog, Name: name, How: "offered it", Detail: digest})
	}
}

// extension adds a ClusterExtension and its installed revision.
func (t *tracer) extension(ctx context.Context, name string) error {
	h, err := ReadHistory(ctx, t.Reader, name)
	if err != nil {
		return err
	}
	for _, r := range h.Revisions {
		if r.State == Installed || r.State == Rolling {
			return t.revision(ctx, r.Name)
		}
	}
	t.out.Managed = true
	if !t.seen(olmv1.ClusterExtensionKind, name) {
		t.add(olmv1.ClusterExtensionKind, h.ext, "owns it", "nothing is installed")
	}
	return nil
}

// revision adds a ClusterObjectSet and what it follows from.
func (t *tracer) revision(ctx context.Context, name string) error {
	t.out.Managed = true
	set := &olmv1.ClusterObjectSet{}
	if err := t.Get(ctx, client.ObjectKey{Name: name}, set); apierrors.IsForbidden(err) {
		t.out.Links = append(t.out.Links, TraceLink{Kind: olmv1.ClusterObjectSetKind, Name: name, How: "consists of it", Detail: messages.Unseen(err, "it", "what asks for it is not known")})
		return nil
	} else if err != nil {
		return fmt.Errorf("read ClusterObjectSet %s: %w", name, err)
	}
	if !t.seen(olmv1.ClusterObjectSetKind, set.Name) {
		t.add(olmv1.ClusterObjectSetKind, set, "consists of it", fmt.Sprintf("revision %d, %s", set.Spec.Revision, strings.ToLower(string(set.Spec.LifecycleState))))
	}
	if of := revision.NameOf(set); of != "" && !t.seen(olmv1.ClusterExtensionKind, of) {
		t.out.Links = append(t.out.Links, TraceLink{Kind: olmv1.ClusterExtensionKind, Name: of, How: "asks for it", Detail: "package " + set.Annotations[olmv1.PackageNameKey]})
	}
	bundle := set.Annotations[olmv1.BundleNameKey]
	if bundle == "" {
		return nil
	}
	t.out.Links = append(t.out.Links, TraceLink{Kind: traceBundle, Name: bundle, How: "holds its manifests", Detail: cmp.Or(set.Annotations[olmv1.BundleReferenceKey], "in the catalog, "+set.Annotations[revision.ContentKey])})
	name, digest, _ := strings.Cut(set.Annotations[desired.CatalogKey], "@")
	t.source(name, digest)
	text := "version " + set.Annotations[olmv1.BundleVersionKey]
	if of := set.Annotations[desired.CopyKey]; of != "" {
		text += ", which repeats revision " + of
	}
	if failed := set.Annotations[desired.FailedNameKey]; failed != "" {
		text += ", because the rollout of revision " + failed + " failed"
	}
	t.out.Links = append(t.out.Links, TraceLink{Kind: traceDecision, Detail: text})
	return nil
}

// Write prints the trace for people.
func (t *Trace) Write(w io.Writer) error {
	var b strings.Builder
	for i, l := range t.Links {
		if i > 0 {
			fmt.Fprintf(&b, "%s└── ", strings.Repeat("    ", i-1))
		}
		text := strings.TrimSpace(l.Kind + " " + l.Name)
		if l.How != "" {
			text += " " + l.How
		}
		if l.Detail != "" {
			text += ": " + l.Detail
		}
		fmt.Fprintln(&b, messages.Clean(text))
	}
	switch {
	case t.Managed:
	case t.Unknown:
		b.WriteString("whether an operator brought it is not known: ask a user who may read what is named above\n")
	default:
		b.WriteString("no operator brought it: it has no owner that a catalog installed, and no label of one\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
