package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// neighbours are the other operators of a cluster, of both APIs, which may need the definitions of an extension.
type neighbours struct {
	csvs []v1alpha1.ClusterServiceVersion
	sets []olmv1.ClusterObjectSet
}

func neighboursOf(ctx context.Context, reader client.Reader, e *olmv1.ClusterExtension) (*neighbours, error) {
	const why = "which may need the same CustomResourceDefinitions"
	var csvs v1alpha1.ClusterServiceVersionList
	if err := reader.List(ctx, &csvs); err != nil && !rollout.IsUnknownKind(err) {
		return nil, fmt.Errorf("list the ClusterServiceVersions of the cluster, %s: %w", why, err)
	}
	var sets olmv1.ClusterObjectSetList
	if err := reader.List(ctx, &sets); err != nil {
		return nil, fmt.Errorf("list the revisions of other ClusterExtensions, %s: %w", why, err)
	}
	sets.Items = slices.DeleteFunc(sets.Items, func(set olmv1.ClusterObjectSet) bool {
		return controlledBy(&set, e) || set.Spec.LifecycleState == olmv1.LifecycleStateArchived || !set.DeletionTimestamp.IsZero()
	})
	return &neighbours{csvs.Items, sets.Items}, nil
}

func controlledBy(o metav1.Object, e *olmv1.ClusterExtension) bool {
	controller := metav1.GetControllerOfNoCopy(o)
	return controller != nil && controller.UID == e.UID
}

// need says who needs a definition; it is empty when no one does.
func (n *neighbours) need(crd *unstructured.Unstructured) string {
	if text := users(n.csvs, crd.GetName()); text != "" {
		return text
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	var all []string
	for i := range n.sets {
		set := &n.sets[i]
		if !requires(set.Annotations[olmv1.PropertiesKey], group, kind) && !requires(set.Annotations[snapshot.PropertiesKey], group, kind) {
			continue
		}
		name := "ClusterObjectSet " + set.Name
		if owner := metav1.GetControllerOfNoCopy(set); owner != nil {
			name = owner.Kind + " " + owner.Name
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return strings.Join(all, ", ") + " needs it"
}

// requires tells whether properties ask for an API, or may: in a constraint it is enough that both names are there, and in properties that
// cannot be read. To keep what no one needs is better than to delete what is needed.
func requires(text, group, kind string) bool {
	if text == "" {
		return false
	}
	mentions := func(text string) bool {
		return strings.Contains(text, `"`+group+`"`) && strings.Contains(text, `"`+kind+`"`)
	}
	var properties []catalog.Property
	if json.Unmarshal([]byte(text), &properties) != nil {
		return mentions(text)
	}
	return slices.ContainsFunc(properties, func(p catalog.Property) bool {
		return (p.Type == catalog.PropertyGVKRequired || p.Type == catalog.PropertyConstraint) && mentions(string(p.Value))
	})
}
