package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extensions is what the v1 API has for a namespace, in the order of names. The catalogs are all those of the cluster.
type extensions struct {
	namespace   string // that is looked into; empty is all
	extensions  []olmv1.ClusterExtension
	catalogs    []olmv1.ClusterCatalog
	revisions   []olmv1.ClusterObjectSet
	deployments []appsv1.Deployment
	unserved    bool // the cluster does not serve the v1 API
}

// elsewhere are the other namespaces that ClusterExtensions install into which were named.
func (e *extensions) elsewhere() []string {
	var all []string
	for i := range e.extensions {
		if n := e.extensions[i].Spec.Namespace; e.namespace != "" && n != e.namespace && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// readExtensions reads the ClusterExtensions that install into a namespace, and those of some names, which belong to none; or all when it is empty. A cluster without the v1 API has none. Where the objects of the
// cluster are not for this user to list, the note says so.
func readExtensions(ctx context.Context, reader client.Reader, namespace string, names ...string) (e extensions, note string, err error) {
	var all olmv1.ClusterExtensionList
	var catalogs olmv1.ClusterCatalogList
	var sets olmv1.ClusterObjectSetList
	err = reader.List(ctx, &all)
	e.namespace = namespace
	e.extensions = slices.DeleteFunc(all.Items, func(x olmv1.ClusterExtension) bool {
		return namespace != "" && x.Spec.Namespace != namespace && !slices.Contains(names, x.Name)
	})
	if err == nil && (len(e.extensions) > 0 || namespace == "") {
		err = errors.Join(reader.List(ctx, &catalogs), reader.List(ctx, &sets))
	}
	switch {
	case rollout.IsUnknownKind(err):
		return extensions{unserved: true}, "", nil
	case apierrors.IsForbidden(err):
		follows := "those that install into namespace " + namespace + " are not shown"
		if namespace == "" {
			follows = "they are not shown"
		}
		return extensions{}, messages.Unseen(err, "ClusterExtensions", follows), nil
	case err != nil:
		where := "of namespace " + namespace
		if namespace == "" {
			where = "of all namespaces"
		}
		return extensions{}, "", fmt.Errorf("list the ClusterExtensions %s: %w", where, err)
	}
	e.catalogs, e.revisions = catalogs.Items, sets.Items
	slices.SortFunc(e.revisions, func(a, b olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return e, "", nil
}

// catalogNode reports what a catalog serves.
func catalogNode(c *olmv1.ClusterCatalog) Node {
	n := Node{Kind: olmv1.ClusterCatalogKind, Name: c.Name, Reason: "not reconciled yet; is the manager running?"}
	if c.Spec.Source.Image != nil {
		n.Detail = c.Spec.Source.Image.Ref
	}
	serving := meta.FindStatusCondition(c.Status.Conditions, olmv1.TypeServing)
	progressing := meta.FindStatusCondition(c.Status.Conditions, olmv1.TypeProgressing)
	if serving != nil {
		n.State, n.Reason, n.Done = serving.Reason, serving.Message, serving.Status == metav1.ConditionTrue
	}
	if n.Done {
		n.State, n.Reason = olmv1.TypeServing, ""
	}
	if progressing != nil && progressing.Reason != olmv1.ReasonSucceeded {
		n.Reason = progressing.Message // newer content cannot be served, or is on its way
	}
	return n
}

// extension reports how far a ClusterExtension is, with its active revisions.
func (e *extensions) extension(x *olmv1.ClusterExtension) Node {
	s := Stand(x)
	n := Node{Kind: olmv1.ClusterExtensionKind, Name: x.Name, State: s.Reason, Done: s.Done}
	if c := x.Spec.Source.Catalog; c != nil {
		n.Detail = "package " + c.PackageName
		if len(c.Channels) > 0 {
			n.Detail += ", channel " + strings.Join(c.Channels, ", ")
		}
		if c.Version != "" {
			n.Detail += ", version " + c.Version
		}
		if e.namespace != "" && x.Spec.Namespace != e.namespace {
			n.Detail += ", in namespace " + x.Spec.Namespace
		}
	}
	switch {
	case s.Done:
	case s.Stopped:
		n.Reason = s.Message + "\nto see what is in the way: fairlead plan " + x.Name
	case s.Reason == olmv1.ReasonRetrying:
		n.Reason = s.Message + "\nto see what to do: fairlead why " + x.Name
	default:
		n.Reason = s.Message
	}
	if d := meta.FindStatusCondition(x.Status.Conditions, olmv1.TypeDeprecated); d != nil && d.Status == metav1.ConditionTrue {
		n.Reason = strings.TrimPrefix(n.Reason+"\ndeprecated: "+d.Message, "\n")
	}
	for i := range e.revisions {
		if set := &e.revisions[i]; controlledBy(set, x) && set.Spec.LifecycleState == olmv1.LifecycleStateActive {
			n.Children = append(n.Children, e.revision(set, n.Reason))
		}
	}
	return n
}

// revision reports whether the objects of a revision work. What its extension reports already is not repeated.
func (e *extensions) revision(set *olmv1.ClusterObjectSet, reported string) Node {
	n := Node{Kind: olmv1.ClusterObjectSetKind, Name: set.Name, Detail: set.Annotations[olmv1.BundleNameKey]}
	available := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
	progressing := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	switch {
	case progressing != nil && progressing.Reason != olmv1.ReasonSucceeded:
		n.State, n.Reason = progressing.Reason, progressing.Message
	case available == nil:
		n.Reason = "not reconciled yet"
	case available.Status != metav1.ConditionTrue:
		n.State, n.Reason = available.Reason, available.Message
	default:
		n.State, n.Done = olmv1.TypeAvailable, true
	}
	if n.Reason != "" && strings.Contains(reported, n.Reason) {
		n.Reason = ""
	}
	if progressing != nil && progressing.Reason == olmv1.ReasonRollingOut && available != nil && available.Status == metav1.ConditionFalse && !strings.Contains(reported+n.Reason, available.Message) {
		n.Reason = strings.TrimPrefix(n.Reason+"\n"+available.Message, "\n") // what it waits for
	}
	for i := range e.deployments {
		if owner := metav1.GetControllerOfNoCopy(&e.deployments[i]); owner != nil && owner.UID == set.UID {
			n.Children = append(n.Children, deployment(&e.deployments[i]))
		}
	}
	return n
}
