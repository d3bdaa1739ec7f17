package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// objects is what a namespace holds, as far as it concerns its operators.
type objects struct {
	groups        operatorsv1.OperatorGroupList
	sources       v1alpha1.CatalogSourceList
	subscriptions v1alpha1.SubscriptionList
	plans         v1alpha1.InstallPlanList
	operators     v1alpha1.ClusterServiceVersionList
	deployments   appsv1.DeploymentList
	unserved      error // that the cluster does not serve the v0 API; nil when it does
}

// InspectNamespace reads a namespace and returns the state of its operators, of both APIs, and of the ClusterExtensions of some names, wherever they
// install. A namespace that does not exist is an error.
func InspectNamespace(ctx context.Context, reader client.Reader, namespace string, names ...string) (Report, error) {
	o, err := readObjects(ctx, reader, namespace)
	if err != nil {
		return Report{}, err
	}
	notes, err := o.readElsewhere(ctx, reader, namespace)
	if err != nil {
		return Report{}, err
	}
	v1, note, err := readExtensions(ctx, reader, namespace, names...)
	if err == nil && v1.unserved {
		err = o.unserved // a cluster may lack one of the APIs, but not both
	}
	if err != nil {
		return Report{}, err
	}
	if err := o.deploymentsOf(ctx, reader, namespace, &v1); err != nil {
		return Report{}, err
	}
	report := Report{Namespace: namespace, Objects: o.tree(namespace, &v1)}
	if len(report.Objects) == 0 {
		if err := Absent(ctx, reader, namespace); err != nil {
			return Report{}, err
		}
	}
	report.Notes = append(report.Notes, notes...)
	if note != "" {
		report.Notes = append(report.Notes, note)
	}
	return report, nil
}

// readElsewhere reads the catalogs in other namespaces that a Subscription names. Those that the user may not read become a note.
func (o *objects) readElsewhere(ctx context.Context, reader client.Reader, namespace string) (notes []string, _ error) {
	for _, ref := range o.elsewhere(namespace) {
		var source v1alpha1.CatalogSource
		err := reader.Get(ctx, ref, &source)
		switch {
		case err == nil:
			o.sources.Items = append(o.sources.Items, source)
		case apierrors.IsForbidden(err):
			notes = append(notes, messages.Unseen(err, "CatalogSource "+ref.String(), "how it is, its Subscriptions tell"))
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("get CatalogSource %s: %w", ref, err)
		}
	}
	return notes, nil
}

// readObjects reads what a namespace, or all of them when it is empty, holds, but for Deployments. Copied ClusterServiceVersions are not read.
func readObjects(ctx context.Context, reader client.Reader, namespace string) (*objects, error) {
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return nil, fmt.Errorf("select ClusterServiceVersions that are no copies: %w", err)
	}
	where := "of all namespaces"
	if namespace != "" {
		where = "of namespace " + namespace
	}
	o := &objects{}
	for _, list := range []struct {
		what    string
		list    client.ObjectList
		options []client.ListOption
	}{
		{"OperatorGroups", &o.groups, nil}, {"CatalogSources", &o.sources, nil}, {"Subscriptions", &o.subscriptions, nil}, {"InstallPlans", &o.plans, nil},
		{"ClusterServiceVersions", &o.operators, []client.ListOption{client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)}}},
	} {
		if err := reader.List(ctx, list.list, append(list.options, client.InNamespace(namespace))...); err != nil {
			err = fmt.Errorf("list the %s %s: %w", list.what, where, err)
			if rollout.IsUnknownKind(err) {
				return &objects{unserved: err}, nil
			}
			if apierrors.IsForbidden(err) {
				err = fmt.Errorf("%w; name a namespace that you may read, with -n", err)
			}
			return nil, err
		}
	}
	return o, nil
}

// elsewhere are the catalogs in other namespaces that a Subscription names.
func (o *objects) elsewhere(namespace string) []client.ObjectKey {
	var refs []client.ObjectKey
	for _, sub := range o.subscriptions.Items {
		if sub.Spec == nil || sub.Spec.CatalogSourceNamespace == namespace {
			continue
		}
		ref := client.ObjectKey{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// deploymentsOf reads the Deployments of a namespace, for its operators of both APIs.
func (o *objects) deploymentsOf(ctx context.Context, reader client.Reader, namespace string, v1 *extensions) error {
	if err := reader.List(ctx, &o.deployments, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list the Deployments of namespace %s: %w", namespace, err)
	}
	v1.deployments = o.deployments.Items
	for _, other := range v1.elsewhere() {
		var more appsv1.DeploymentList
		err := reader.List(ctx, &more, client.InNamespace(other))
		if err != nil && !apierrors.IsForbidden(err) { // how its revision is, that says itself
			return fmt.Errorf("list the Deployments of namespace %s: %w", other, err)
		}
		v1.deployments = append(v1.deployments[:len(v1.deployments):len(v1.deployments)], more.Items...)
	}
	return nil
}

// Absent is an error for a namespace that does not exist. A user who may not ask is not told.
func Absent(ctx context.Context, reader client.Reader, namespace string) error {
	object := metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, &object); apierrors.IsNotFound(err) {
		return &messages.AskedError{Lack: messages.NoNamespace, Text: fmt.Sprintf("read namespace %s: there is no such namespace", namespace),
			Command: "correct -n, or the namespace of the kubeconfig's context: fairlead list -A lists what all namespaces have"}
	}
	return nil
}

func (o *objects) tree(namespace string, v1 *extensions) []Node {
	var nodes []Node
	for i := range o.groups.Items {
		g := &o.groups.Items[i]
		n := Node{Kind: operatorsv1.OperatorGroupKind, Name: g.Name, Done: true}
		switch {
		case len(g.Status.Namespaces) == 0:
			n.Done, n.Reason = false, "its target namespaces are not known yet, or it selects none"
		case slices.Contains(g.Status.Namespaces, ""):
			n.Detail = "all namespaces"
		default:
			n.Detail = strings.Join(g.Status.Namespaces, ", ")
		}
		for _, c := range g.Status.Conditions {
			if c.Status == "True" && !slices.Contains(reconcile.VerdictTypes, c.Type) { // what is wrong is in the others
				n.Done, n.State, n.Reason = false, c.Type, c.Message
			}
		}
		nodes = append(nodes, n)
	}
	if len(o.groups.Items) == 0 && len(o.subscriptions.Items)+len(o.operators.Items) > 0 {
		nodes = append(nodes, Node{Kind: "OperatorGroup", Name: "-", State: "Missing",
			Reason: "operators need exactly one OperatorGroup in their namespace: create one in " + namespace})
	}
	for i := range o.sources.Items {
		s := &o.sources.Items[i]
		n := Node{Kind: v1alpha1.CatalogSourceKind, Name: s.Namespace + "/" + s.Name, Detail: s.Spec.Image, Reason: s.Status.Message}
		if s.Status.GRPCConnectionState != nil {
			n.State = s.Status.GRPCConnectionState.LastObservedState
		}
		if c := apimeta.FindStatusCondition(s.Status.Conditions, v1alpha1.CatalogSourceSignatureVerified); c != nil {
			n.Signatures = []string{c.Message}
		}
		n.Done = n.State == "READY"
		if !n.Done && n.Reason == "" {
			n.Reason = "its content is still being loaded"
		}
		nodes = append(nodes, n)
	}
	for i := range v1.catalogs {
		nodes = append(nodes, catalogNode(&v1.catalogs[i]))
	}
	shown := map[string]bool{}
	for i := range o.subscriptions.Items {
		nodes = append(nodes, o.subscription(&o.subscriptions.Items[i], shown))
	}
	for i := range o.plans.Items {
		if p := &o.plans.Items[i]; p.IsHandWritten() {
			nodes = append(nodes, plan(p, p.Name))
		}
	}
	for i := range o.operators.Items {
		if csv := &o.operators.Items[i]; !shown[csv.Name] && !csv.IsCopied() {
			nodes = append(nodes, o.operator(csv))
		}
	}
	for i := range v1.extensions {
		nodes = append(nodes, v1.extension(&v1.extensions[i]))
	}
	return nodes
}

// ownReasons are those of a Subscription that neither its plan nor its operator tells.
var ownReasons = []string{"ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking", "InstallPlanNotWritten", "OperatorDeleted"}

func (o *objects) subscription(sub *v1alpha1.Subscription, shown map[string]bool) Node {
	n := Node{Kind: v1alpha1.SubscriptionKind, Name: sub.Name, State: string(sub.Status.State)}
	if sub.Spec != nil {
		n.Detail = fmt.Sprintf("package %s, channel %s of catalog %s/%s", sub.Spec.Package, cmp.Or(sub.Spec.Channel, "any"),
			sub.Spec.CatalogSourceNamespace, sub.Spec.CatalogSource)
	}
	ready := sub.Status.GetCondition("Ready")
	n.Done = ready.Status == "True"
	if !n.Done || sub.Status.State != v1alpha1.SubscriptionStateAtLatest {
		n.Reason = cmp.Or(ready.Message, "not reconciled yet; is the manager running?")
	}
	if ref := sub.Status.InstallPlanRef; ref != nil {
		for i := range o.plans.Items {
			if p := &o.plans.Items[i]; p.Name == ref.Name {
				n.Children = append(n.Children, plan(p, sub.Name))
			}
		}
	}
	for i := range o.operators.Items {
		csv := &o.operators.Items[i]
		if !csv.IsCopied() && (csv.Name == sub.Status.InstalledCSV || csv.Name == sub.Status.CurrentCSV) {
			shown[csv.Name] = true
			n.Children = append(n.Children, o.operator(csv))
		}
	}
	if !allDone(n.Children) && !slices.Contains(ownReasons, ready.Reason) {
		n.Reason = "" // they say it themselves, and in more detail
	}
	if n.Reason != "" && ready.Reason == "ResolutionFailed" {
		n.Reason += fmt.Sprintf("\nto see what to do: fairlead why %s -n %s", sub.Name, sub.Namespace)
	}
	if d := sub.Status.GetCondition(v1alpha1.SubscriptionDeprecated); d.Status == "True" {
		n.Reason = strings.TrimPrefix(n.Reason+"\ndeprecated: "+d.Message, "\n")
	}
	return n
}

// plan reports how far a plan is. It is approved by the name of its Subscription or, where it was written by hand, by its own.
func plan(p *v1alpha1.InstallPlan, approvedBy string) Node {
	done := 0
	for _, s := range p.Status.Plan {
		if s != nil && (s.Status == v1alpha1.StepStatusCreated || s.Status == v1alpha1.StepStatusPresent) {
			done++
		}
	}
	n := Node{Kind: v1alpha1.InstallPlanKind, Name: p.Name, State: string(p.Status.Phase), Reason: p.Status.Message,
		Detail: fmt.Sprintf("%s; %d of %d steps", strings.Join(p.Spec.ClusterServiceVersionNames, ", "), done, len(p.Status.Plan)),
		Done:   p.Status.Phase == v1alpha1.InstallPlanPhaseComplete}
	for i := range p.Status.BundleLookups {
		l := &p.Status.BundleLookups[i]
		c := l.GetCondition(v1alpha1.BundleLookupSignatureVerified)
		switch {
		case c.Message == "":
		case c.Status == corev1.ConditionTrue:
			n.Signatures = append(n.Signatures, fmt.Sprintf("bundle %s is %s", l.Identifier, c.Message))
		default:
			n.Signatures = append(n.Signatures, c.Message)
		}
	}
	if p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval {
		n.Reason = "waits for approval: " + ApproveCommand(client.ObjectKey{Namespace: p.Namespace, Name: approvedBy})
	}
	return n
}

// maxRequirements is how many unmet requirements are shown.
const maxRequirements = 5

func (o *objects) operator(csv *v1alpha1.ClusterServiceVersion) Node {
	n := Node{Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name, State: cmp.Or(string(csv.Status.Phase), "New"),
		Done: csv.Status.Phase == v1alpha1.CSVPhaseSucceeded}
	if !n.Done {
		// The operator's own message, or the requirements that it waits for, one a line.
		var unmet []string
		for _, r := range csv.Status.RequirementStatus {
			if r.Status != v1alpha1.RequirementStatusReasonPresent && r.Status != v1alpha1.RequirementStatusReasonDeploymentFound {
				text := fmt.Sprintf("%s %s: %s", r.Kind, r.Name, r.Status)
				if r.Message != "" {
					text += ", " + r.Message
				}
				unmet = append(unmet, text)
			}
		}
		n.Reason = csv.Status.Message
		if csv.Status.Reason == v1alpha1.CSVReasonRequirementsNotMet && len(unmet) > 0 {
			n.Reason = strings.Join(safetext.First(unmet, maxRequirements, "and %d more requirements"), "\n")
		}
	}
	for i := range o.deployments.Items {
		d := &o.deployments.Items[i]
		if d.Labels[v1alpha1.OwnerLabel] == csv.Name {
			n.Children = append(n.Children, deployment(d))
		}
	}
	return n
}

func deployment(d *appsv1.Deployment) Node {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	n := Node{Kind: "Deployment", Name: d.Name, of: d, State: fmt.Sprintf("%d/%d available", d.Status.AvailableReplicas, wanted)}
	n.Done = d.Status.AvailableReplicas >= wanted && d.Status.ObservedGeneration >= d.Generation
	if old := d.Status.Replicas - d.Status.UpdatedReplicas; old > 0 { // those that are available may be the ones that are to be replaced
		n.Done = false
		n.State += fmt.Sprintf(", %d of an earlier version", old)
	}
	for _, c := range d.Status.Conditions {
		// ReplicaFailure is bad news when it is True; all other conditions are when they are not.
		if !n.Done && (c.Status == "True") == (c.Type == appsv1.DeploymentReplicaFailure) {
			n.Reason = strings.TrimPrefix(n.Reason+"\n"+c.Message, "\n")
		}
	}
	return n
}
