package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is what is asked of a cluster. Nothing is written to it.
type Cluster struct {
	Reader client.Reader
	Server interface {
		ServerVersion() (*apimachineryversion.Info, error)
	}
}

// Question is what the controllers would decide on now in a namespace of the cluster.
func (c Cluster) Question(ctx context.Context, namespace, global string) (*Question, error) {
	q, err := c.QuestionAhead(ctx, namespace, global)
	if err != nil {
		return nil, err
	}
	if o := &q.Objects; len(o.Subscriptions)+len(o.Operators)+len(o.Plans)+len(o.Groups) == 0 {
		object := metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		if err := c.Reader.Get(ctx, client.ObjectKey{Name: namespace}, &object); apierrors.IsNotFound(err) { // who may not ask is not told
			return nil, &messages.AskedError{Lack: messages.NoNamespace, Text: fmt.Sprintf("read namespace %s of the cluster: there is no such namespace", namespace), Command: "correct --namespace, or the namespace of the kubeconfig's context"}
		}
	}
	return q, nil
}

// QuestionAhead is the same of a namespace that may not exist yet, and has nothing then.
func (c Cluster) QuestionAhead(ctx context.Context, namespace, global string) (*Question, error) {
	q := &Question{Namespace: namespace, GlobalNamespace: global, Complete: true, Secrets: c.Reader}
	var err error
	if q.Kubernetes, err = c.Kubernetes(); err != nil {
		return nil, err
	}
	var (
		subscriptions v1alpha1.SubscriptionList
		operators     v1alpha1.ClusterServiceVersionList
		plans         v1alpha1.InstallPlanList
		groups        operatorsv1.OperatorGroupList
	)
	for _, list := range []client.ObjectList{&subscriptions, &operators, &plans, &groups} {
		if err := c.Reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("read namespace %s of the cluster: %w", namespace, err)
		}
	}
	q.Objects = Objects{Subscriptions: subscriptions.Items, Operators: operators.Items, Plans: plans.Items, Groups: groups.Items}
	if q.rivals, err = rivals(ctx, c.Reader); err != nil {
		return nil, err
	}
	for _, from := range slices.Compact([]string{namespace, global}) {
		var sources v1alpha1.CatalogSourceList
		err := c.Reader.List(ctx, &sources, client.InNamespace(from))
		if apierrors.IsForbidden(err) {
			err = c.readUnseen(ctx, q, from, err)
		}
		if err != nil {
			return nil, fmt.Errorf("list the CatalogSources of namespace %s: %w", from, err)
		}
		q.Objects.Sources = append(q.Objects.Sources, sources.Items...)
	}
	extensions, err := c.Extensions(ctx)
	switch {
	case err == nil:
		q.Objects.Extensions, q.Objects.Clustered = extensions.Objects.Extensions, extensions.Objects.Clustered
	case errors.Is(err, errNotServed): // no one can have asked for one
	case apierrors.IsForbidden(err):
		q.Notes = append(q.Notes, messages.Unseen(err, "ClusterExtensions", "they are not checked"))
	default:
		return nil, err
	}
	namespaces := []string{namespace}
	for i := range q.Objects.Extensions {
		namespaces = append(namespaces, q.Objects.Extensions[i].Spec.Namespace)
	}
	var notes []string
	q.windows, notes, err = readWindows(ctx, c.Reader, namespaces)
	q.Notes = append(q.Notes, notes...)
	return q, err
}

// rivals are the OperatorGroups of the cluster; none where the user may not list them: then no operator is known to be in the way.
func rivals(ctx context.Context, reader client.Reader) (all []*operatorsv1.OperatorGroup, err error) {
	var list operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &list); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list the OperatorGroups of the cluster: %w", err)
	}
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

// Kubernetes is the version of the cluster.
func (c Cluster) Kubernetes() (semver.Version, error) {
	info, err := c.Server.ServerVersion()
	if err != nil {
		return semver.Version{}, fmt.Errorf("ask the cluster for its version: %w", err)
	}
	v, err := version.ParseTolerant(info.GitVersion)
	if err != nil {
		return v, fmt.Errorf("read the version of the cluster: %w", err)
	}
	return v, nil
}

// errNotServed says that a cluster does not know ClusterExtensions.
var errNotServed = errors.New("it does not serve olm.operatorframework.io/v1; run the manager, which applies that API, with: fairlead manager; or name catalogs with --catalog")

// Extensions is what is decided on for the ClusterExtensions of the cluster.
func (c Cluster) Extensions(ctx context.Context) (*Question, error) {
	var extensions olmv1.ClusterExtensionList
	var catalogs olmv1.ClusterCatalogList
	for _, list := range []client.ObjectList{&extensions, &catalogs} {
		err := c.Reader.List(ctx, list)
		if rollout.IsUnknownKind(err) {
			err = errNotServed
		}
		if err != nil {
			err = fmt.Errorf("list the ClusterExtensions and ClusterCatalogs of the cluster: %w", err)
		}
		if apierrors.IsForbidden(err) {
			err = fmt.Errorf("%w; they belong to no namespace: ask an administrator of the cluster for the right to read them", err)
		}
		if err != nil {
			return nil, err
		}
	}
	return &Question{Secrets: c.Reader, Objects: Objects{Extensions: extensions.Items, Clustered: catalogs.Items}}, nil
}
