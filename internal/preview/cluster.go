package preview

import (
	"context"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/version"

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
	q := &Question{Namespace: namespace, GlobalNamespace: global, Secrets: c.Reader}
	info, err := c.Server.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the cluster for its version: %w", err)
	}
	if q.Kubernetes, err = version.ParseTolerant(info.GitVersion); err != nil {
		return nil, fmt.Errorf("read the version of the cluster: %w", err)
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
	for _, from := range slices.Compact([]string{namespace, global}) {
		var sources v1alpha1.CatalogSourceList
		if err := c.Reader.List(ctx, &sources, client.InNamespace(from)); err != nil {
			return nil, fmt.Errorf("list the CatalogSources of namespace %s: %w", from, err)
		}
		q.Objects.Sources = append(q.Objects.Sources, sources.Items...)
	}
	return q, nil
}
