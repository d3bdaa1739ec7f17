package ops

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operator is one operator, by the object that it is known by, with all that belongs to it.
type Operator struct {
	Listed
	// Cause is what is below it that says most nearly why it does not work; nil when it works.
	Cause *Node `json:"cause,omitempty"`
	// Advice is what to do about that.
	Advice string `json:"advice,omitempty"`
	// Hold is that its upgrades are held, by hand.
	Hold *Holding `json:"hold,omitempty"`
	// Revisions are those of a ClusterExtension that are kept, and Plans the InstallPlans of a Subscription; nil where they may not be read.
	Revisions *History             `json:"revisions,omitempty"`
	Plans     *SubscriptionHistory `json:"plans,omitempty"`
	// Tree has the object with its plan, its ClusterServiceVersion or revisions, their Deployments and pods.
	Tree       Node        `json:"tree"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Definitions, Webhooks, Roles and Others are the other objects that belong to it.
	Definitions []OwnedDefinition `json:"definitions,omitempty"`
	Webhooks    []OwnedWebhook    `json:"webhooks,omitempty"`
	Roles       []Ref             `json:"roles,omitempty"`
	Others      []Ref             `json:"others,omitempty"`
	// Events are the newest of those objects, and MoreEvents how many others there are.
	Events     []Event `json:"events,omitempty"`
	MoreEvents int     `json:"moreEvents,omitempty"`
	// Notes are what is left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// Holding is that upgrades are held, and why.
type Holding struct {
	Reason string `json:"reason,omitempty"`
	// Before is the upgrade window that comes back when they are released.
	Before string `json:"before,omitempty"`
}

// OperatorReader reads one operator, as its user. What the user may not read is noted, and the rest is read all the same.
type OperatorReader struct {
	client.Reader
	Logs Logs // nil reads no logs
	Now  time.Time

	out     Operator
	found   objects
	v1      extensions
	secrets map[string]served // certificates by the Secret that holds them
	held    *Removal          // gathers what belongs to the operator, by the rules of its removal
}

// Operator reads the operator that an object is known by: a Subscription, a ClusterServiceVersion or a ClusterExtension, of which the namespace is the
// one that it installs into.
func (r OperatorReader) Operator(ctx context.Context, kind string, key client.ObjectKey) (*Operator, error) {
	r.secrets, r.held = map[string]served{}, &Removal{}
	read := map[string]func(context.Context, client.ObjectKey) error{v1alpha1.SubscriptionKind: r.subscription, v1alpha1.ClusterServiceVersionKind: r.operator, olmv1.ClusterExtensionKind: r.extension}[kind]
	if read == nil {
		return nil, fmt.Errorf("show %s %s: an operator is known by a %s, a %s or a %s: choose one of the list of what is installed", messages.Clean(kind), key, v1alpha1.SubscriptionKind,
			v1alpha1.ClusterServiceVersionKind, olmv1.ClusterExtensionKind)
	}
	r.out.Listed = Listed{Kind: kind, Name: key.Name, Namespace: key.Namespace}
	if err := read(ctx, key); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	if err := together(2, func(i int) error {
		if i == 0 {
			return r.around(ctx)
		}
		if r.out.Revisions != nil {
			r.out.Revisions.Check(ctx, r.Reader)
		}
		return nil
	})[0]; err != nil {
		return nil, fmt.Errorf("read what belongs to %s %s: %w", kind, strings.TrimPrefix(key.String(), "/"), err)
	}
	return &r.out, nil
}

// listed is what became of a list.
func (r *OperatorReader) listed(err error, what, follows string) (refused bool, _ error) {
	return judgeList(err, what, follows, r.note)
}

func (r *OperatorReader) note(text string) {
	if !slices.Contains(r.out.Notes, text) {
		r.out.Notes = append(r.out.Notes, text)
	}
}

// subscription reads a Subscription with its plan and its ClusterServiceVersion.
func (r *OperatorReader) subscription(ctx context.Context, key client.ObjectKey) error {
	sub := &v1alpha1.Subscription{}
	if err := r.Get(ctx, key, sub); err != nil {
		return err
	}
	r.found.subscriptions.Items = []v1alpha1.Subscription{*sub}
	within := client.InNamespace(key.Namespace)
	refused, err := r.lists(ctx, reading{"InstallPlans of namespace " + key.Namespace, "its plans are not shown", &r.found.plans, []client.ListOption{within}},
		reading{"ClusterServiceVersions of namespace " + key.Namespace, "what is installed is not shown", &r.found.operators, []client.ListOption{within}},
		r.deployments(key.Namespace))
	if err != nil {
		return err
	}
	if !refused[&r.found.plans] {
		r.out.Plans = subscriptionHistoryOf(sub, slices.Clone(r.found.plans.Items))
	}
	r.out.Hold = holding(sub.Annotations)
	r.out.Conditions = subscriptionConditions(sub)
	for i := range r.found.operators.Items {
		csv := &r.found.operators.Items[i]
		if !csv.IsCopied() && (csv.Name == sub.Status.InstalledCSV || csv.Name == sub.Status.CurrentCSV) {
			if err := r.version(ctx, csv); err != nil {
				return err
			}
		}
	}
	return r.deployed(ctx)
}

// operator reads a ClusterServiceVersion without its Subscription.
func (r *OperatorReader) operator(ctx context.Context, key client.ObjectKey) error {
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := r.Get(ctx, key, csv); err != nil {
		return err
	}
	if csv.IsCopied() {
		return fmt.Errorf("it is a copy of the one in namespace %s: look there for the operator", csv.Labels[v1alpha1.CopiedFromLabel])
	}
	r.found.operators.Items = []v1alpha1.ClusterServiceVersion{*csv}
	if _, err := r.lists(ctx, r.deployments(key.Namespace)); err != nil {
		return err
	}
	if err := r.version(ctx, csv); err != nil {
		return err
	}
	return r.deployed(ctx)
}

// version reads what belongs to a ClusterServiceVersion.
func (r *OperatorReader) version(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) error {
	r.out.Conditions = append(r.out.Conditions, versionConditions(csv)...)
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		r.held.Goes = append(r.held.Goes, crdRef(d.Name))
	}
	return r.held.operator(ctx, r.Reader, csv, map[types.UID]bool{csv.UID: true})
}

// extension reads a ClusterExtension with its revisions.
func (r *OperatorReader) extension(ctx context.Context, key client.ObjectKey) error {
	e := &olmv1.ClusterExtension{}
	if err := r.Get(ctx, client.ObjectKey{Name: key.Name}, e); err != nil {
		return err
	}
	if e.Spec.Namespace != key.Namespace {
		return apierrors.NewNotFound(olmv1.GroupVersion.WithResource("clusterextensions").GroupResource(), key.Name+" that installs into namespace "+key.Namespace)
	}
	r.v1.extensions = []olmv1.ClusterExtension{*e}
	sets, err := revision.List(ctx, r.Reader, e.Name, e.UID)
	if apierrors.IsForbidden(err) {
		r.note(messages.Unseen(err, "ClusterObjectSets", "its revisions and what they hold are not shown"))
	} else if err != nil {
		return err
	} else {
		r.out.Revisions = historyOf(e, sets)
	}
	r.v1.revisions = sets
	r.out.Hold = holding(e.Annotations)
	r.out.Conditions = statusConditions(olmv1.ClusterExtensionKind, e.Name, e.Status.Conditions)
	mine := map[types.UID]bool{}
	for i := range sets {
		mine[sets[i].UID] = true
		if sets[i].Spec.LifecycleState == olmv1.LifecycleStateActive {
			r.out.Conditions = append(r.out.Conditions, statusConditions(olmv1.ClusterObjectSetKind, sets[i].Name, sets[i].Status.Conditions)...)
		}
	}
	if _, err := r.lists(ctx, r.deployments(key.Namespace)); err != nil {
		return err
	}
	if err := r.labelled(ctx, e, mine); err != nil {
		return err
	}
	return r.deployed(ctx)
}

// deployments are those of the namespace, which the tree is built with.
func (r *OperatorReader) deployments(namespace string) reading {
	return reading{"Deployments of namespace " + namespace, "they and their pods are not shown", &r.found.deployments, []client.ListOption{client.InNamespace(namespace)}}
}

// deployed builds the tree, and adds the pods to it.
func (r *OperatorReader) deployed(ctx context.Context) error {
	r.v1.deployments = r.found.deployments.Items
	all := append(r.found.listed(r.out.Namespace), r.v1.listed()...)
	i := slices.IndexFunc(all, func(l Listed) bool { return l.Kind == r.out.Kind && l.Name == r.out.Name })
	r.out.Listed = all[max(i, 0)]
	switch shown := map[string]bool{}; r.out.Kind {
	case v1alpha1.SubscriptionKind:
		r.out.Tree = r.found.subscription(&r.found.subscriptions.Items[0], shown)
	case v1alpha1.ClusterServiceVersionKind:
		r.out.Tree = r.found.operator(&r.found.operators.Items[0])
	default:
		r.out.Tree = r.v1.extension(&r.v1.extensions[0])
	}
	if err := r.pods(ctx); err != nil {
		return err
	}
	if !r.out.Done {
		cause := r.out.Tree.deepest()
		cause.Children = nil
		r.out.Cause, r.out.Advice = &cause, advice(cause, r.out.Listed)
	}
	return nil
}

// deepest is the node furthest down that is not done and says why; the node itself where none does. What is wrong with the version that is to come goes before
// what is wrong with the one that it replaces.
func (n Node) deepest() Node {
	found, _ := n.deepestFrom(0)
	return found
}

func (n Node) deepestFrom(depth int) (Node, int) {
	if next, found := n.next(); found {
		return next.deepestFrom(depth + 1)
	}
	found, at := n, depth
	for _, child := range n.Children {
		if child.Done && allDone(child.Children) {
			continue
		}
		if below, further := child.deepestFrom(depth + 1); below.Reason != "" && further > at {
			found, at = below, further
		}
	}
	return found, at
}

// next is what brings the next version, where that says why it does not: an InstallPlan that has failed, or the newest revision that says why.
func (n Node) next() (Node, bool) {
	for _, child := range slices.Backward(n.Children) {
		switch {
		case child.Done && allDone(child.Children):
		case child.Kind == v1alpha1.InstallPlanKind && child.State == string(v1alpha1.InstallPlanPhaseFailed) && child.Reason != "",
			child.Kind == olmv1.ClusterObjectSetKind && child.deepest().Reason != "":
			return child, true
		}
	}
	return Node{}, false
}

// holding is that upgrades are held by hand; nil when they are not.
func holding(annotations map[string]string) *Holding {
	before, held := annotations[HeldBeforeKey]
	if !held {
		return nil
	}
	return &Holding{Reason: annotations[HeldReasonKey], Before: before}
}

// advice is what to do about a cause.
func advice(cause Node, l Listed) string {
	if l.Standing() == Waits {
		return "check what it changes, then approve it or leave it"
	}
	for _, known := range remedies {
		if slices.Contains(known.states, cause.State) {
			return strings.NewReplacer("NAMESPACE", l.Namespace, "NAME", cause.Name, "OPERATOR", l.Name).Replace(known.what)
		}
	}
	if saysWhatToDo.MatchString(cause.Reason) {
		return ""
	}
	return "wait for a minute where it has just begun; otherwise the conditions and events below tell what is tried, and " + cmp.Or(doctorFor[cause.Kind], "fairlead doctor finds what is wrong with the cluster")
}

// saysWhatToDo is of reasons that have their own remedy: a command, or a clause that asks for something, as messages of the manager end. Those of Kubernetes
// have none.
var saysWhatToDo = regexp.MustCompile(`\b(?:fairlead|kubectl) [a-z]|(?:^|[;:,.\n] ?|\b(?:or|and|then) )(?i:to (?:see|go on|continue)|(?:set|grant|add|create|delete|remove|correct|choose|change|approve|ask|give|allow|let|` +
	`write|see|upgrade|install|run|name|use|update|release|leave out|make|label|bind|move|raise|uninstall) (?:it|its|the|an?|one|that|them|this|those|spec\.|[A-Z][a-z]|[a-z]+ ))`)

var doctorFor = map[string]string{"Pod": "kubectl describe pod shows the pod in full"}

// remedies are what to do about states of objects.
var remedies = []struct {
	states []string
	what   string
}{
	{[]string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName"}, "make the image reachable: the registry has to have it, the node has to reach the registry, and a pull secret has to let it in"},
	{[]string{"CrashLoopBackOff", "Error", "RunContainerError"}, "read why it ends: kubectl logs -n NAMESPACE NAME --previous; going back to the version before is possible where its history has one"},
	{[]string{"OOMKilled"}, "give the container more memory: spec.config.resources of the Subscription, or the values of the bundle"},
	{[]string{"CreateContainerConfigError"}, "create the ConfigMap or Secret that the container names"},
	{[]string{"Unschedulable"}, "make room for the pod: its requests, node selectors and tolerations have to fit a node"},
}
