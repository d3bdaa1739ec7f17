package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// noSupport is what is said of an operator when no condition says how long it is supported.
const noSupport = "no data"

// page is how many objects are read at once: a ClusterServiceVersion may have a megabyte.
const page = 50

// Read returns the operators of a namespace, or of all namespaces when it is empty. Of ClusterExtensions that is spec.namespace. A cluster may
// lack one of the two APIs, but not both.
// What the user may not list of the v1 API is left out, and notes say so.
func Read(ctx context.Context, reader client.Reader, namespace string) (_ []platform.Operator, notes []string, _ error) {
	versions, err := clusterServiceVersions(ctx, reader, namespace)
	without := rollout.IsUnknownKind(err)
	if err != nil && !without {
		return nil, nil, err
	}
	sets, missing := clusterObjectSets(ctx, reader, namespace)
	switch {
	case apierrors.IsForbidden(missing) && !without:
		return versions, []string{messages.Unseen(missing, "ClusterExtensions", "they are not checked")}, nil
	case missing != nil && (without || !rollout.IsUnknownKind(missing)):
		return nil, nil, errors.Join(err, missing)
	}
	return append(versions, sets...), nil, nil
}

// eachInstalled calls a function with every page of a list.
func eachInstalled[L client.ObjectList](ctx context.Context, reader client.Reader, list func() L, look func(L), options ...client.ListOption) error {
	next := ""
	for {
		items := list()
		if err := reader.List(ctx, items, append(options, client.Limit(page), client.Continue(next))...); err != nil {
			return fmt.Errorf("list what is installed: %w", err)
		}
		look(items)
		if next = items.GetContinue(); next == "" {
			return nil
		}
	}
}

func clusterServiceVersions(ctx context.Context, reader client.Reader, namespace string) ([]platform.Operator, error) {
	// The objects of bundles, as the InstallPlans have them that installed them, by ClusterServiceVersion.
	uses := map[client.ObjectKey][]platform.Use{}
	err := eachInstalled(ctx, reader, func() *v1alpha1.InstallPlanList { return &v1alpha1.InstallPlanList{} }, func(list *v1alpha1.InstallPlanList) {
		for i := range list.Items {
			for _, step := range list.Items[i].Status.Plan {
				if step == nil {
					continue
				}
				key, of := client.ObjectKey{Namespace: list.Items[i].Namespace, Name: step.Resolving}, step.Resource
				use := platform.Use{APIVersion: of.Version, Kind: of.Kind, Where: of.Kind + " " + of.Name}
				if of.Group != "" {
					use.APIVersion = of.Group + "/" + of.Version
				}
				uses[key] = append(uses[key], use)
			}
		}
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	support := map[client.ObjectKey]string{}
	err = eachInstalled(ctx, reader, func() *v1alpha1.SubscriptionList { return &v1alpha1.SubscriptionList{} }, func(list *v1alpha1.SubscriptionList) {
		for i := range list.Items {
			sub := &list.Items[i]
			if said := sub.Status.GetCondition(v1alpha1.SubscriptionSupported).Message; said != "" {
				support[client.ObjectKey{Namespace: sub.Namespace, Name: sub.Status.InstalledCSV}] = said
			}
		}
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	var operators []platform.Operator
	err = eachInstalled(ctx, reader, func() *v1alpha1.ClusterServiceVersionList { return &v1alpha1.ClusterServiceVersionList{} }, func(list *v1alpha1.ClusterServiceVersionList) {
		for i := range list.Items {
			if csv := &list.Items[i]; !csv.IsCopied() {
				operator := ofVersion(csv)
				operator.Uses = append(operator.Uses, uses[client.ObjectKeyFromObject(csv)]...)
				operator.Support = cmp.Or(support[client.ObjectKeyFromObject(csv)], noSupport)
				operators = append(operators, operator)
			}
		}
	}, client.InNamespace(namespace))
	return operators, err
}

// ofVersion is what a ClusterServiceVersion says of itself.
func ofVersion(csv *v1alpha1.ClusterServiceVersion) platform.Operator {
	name := "ClusterServiceVersion " + csv.Name
	if csv.Namespace != "" {
		name += " in namespace " + csv.Namespace
	}
	operator := platform.Operator{
		Installed:      platform.Installed{Name: name, Properties: csv.Annotations[olmv1.PropertiesKey]},
		MinKubeVersion: csv.Spec.MinKubeVersion,
	}
	for _, api := range csv.Spec.NativeAPIs {
		use := platform.Use{APIVersion: api.Version, Kind: api.Kind, Where: "spec.nativeAPIs"}
		if api.Group != "" {
			use.APIVersion = api.Group + "/" + api.Version
		}
		operator.Uses = append(operator.Uses, use)
	}
	return operator
}

func clusterObjectSets(ctx context.Context, reader client.Reader, namespace string) ([]platform.Operator, error) {
	namespaces, support := map[string]string{}, map[string]string{}
	err := eachInstalled(ctx, reader, func() *olmv1.ClusterExtensionList { return &olmv1.ClusterExtensionList{} }, func(list *olmv1.ClusterExtensionList) {
		for i := range list.Items {
			ext := &list.Items[i]
			namespaces[ext.Name] = ext.Spec.Namespace
			if said := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeSupported); said != nil && ext.Status.Install != nil {
				support[ext.Name+"/"+ext.Status.Install.Bundle.Name] = said.Message
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var operators []platform.Operator
	err = eachInstalled(ctx, reader, func() *olmv1.ClusterObjectSetList { return &olmv1.ClusterObjectSetList{} }, func(list *olmv1.ClusterObjectSetList) {
		for i := range list.Items {
			set := &list.Items[i]
			if set.Spec.LifecycleState == olmv1.LifecycleStateActive && (namespace == "" || namespaces[revision.NameOf(set)] == namespace) {
				operator := platform.Operator{Installed: platform.Installed{Name: "ClusterObjectSet " + set.Name, Properties: set.Annotations[olmv1.PropertiesKey]}}
				if extension, bundle := revision.NameOf(set), set.Annotations[olmv1.BundleNameKey]; extension != "" && bundle != "" {
					operator.Name = fmt.Sprintf("ClusterExtension %s with bundle %s", extension, bundle)
					operator.Support = cmp.Or(support[extension+"/"+resolution.StatusName(bundle)], noSupport)
				}
				objects, err := revision.Objects(ctx, reader, set)
				if err != nil {
					operator.Unreadable = append(operator.Unreadable, fmt.Sprintf("the objects of ClusterObjectSet %s cannot be read: %v", set.Name, err))
				}
				for _, object := range objects {
					operator.Uses = append(operator.Uses, useOf(object))
				}
				operators = append(operators, operator)
			}
		}
	})
	return operators, err
}
