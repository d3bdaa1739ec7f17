package migrate

import (
	"encoding/json"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AdoptsKey is the annotation of a ClusterExtension whose first revision adopts what a ClusterServiceVersion has installed.
const AdoptsKey = "operators.fairlead.dev/adopts"

// MigratingKey is the annotation of a Subscription that agrees that a ClusterExtension, which it names, adopts what it has installed, and
// that must not upgrade anything meanwhile.
const MigratingKey = "operators.fairlead.dev/migrating"

// Install is an operator that was installed by the v0 API.
type Install struct {
	Subscription *v1alpha1.Subscription
	CSV          *v1alpha1.ClusterServiceVersion
	// Groups are the OperatorGroups of the namespace.
	Groups []operatorsv1.OperatorGroup
	// Others are all other ClusterServiceVersions of the cluster, without copies.
	Others []v1alpha1.ClusterServiceVersion
	// Plans are the InstallPlans of the namespace.
	Plans []v1alpha1.InstallPlan
}

// Names is the name of the ClusterServiceVersion.
func (in *Install) Names() CSV { return CSV{in.CSV.Namespace, in.CSV.Name} }

// Preferences is what the user says about the ClusterExtension.
type Preferences struct {
	// Name of the ClusterExtension; that of the package when empty.
	Name string
	// Catalog is the ClusterCatalog; empty is any.
	Catalog string
}

// Extension asks for what the Subscription asked for, and for the very version that is installed.
func (in *Install) Extension(w Preferences) (*olmv1.ClusterExtension, error) {
	sub := in.Subscription
	name := w.Name
	if name == "" {
		name = sub.Spec.Package
	}
	e := &olmv1.ClusterExtension{
		TypeMeta:   metav1.TypeMeta{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{AdoptsKey: in.Names().String()}},
	}
	e.Spec.Namespace = sub.Namespace
	filter := &olmv1.CatalogFilter{PackageName: sub.Spec.Package, Version: in.CSV.Spec.Version.String()}
	if sub.Spec.Channel != "" {
		filter.Channels = []string{sub.Spec.Channel}
	}
	if w.Catalog != "" {
		filter.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: w.Catalog}}
	}
	e.Spec.Source = olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: filter}
	// The configuration with the namespaces that the operator watches.
	config := map[string]any{}
	if len(in.Groups) == 1 {
		switch targets := in.Groups[0].Status.Namespaces; {
		case len(targets) == 1 && targets[0] != metav1.NamespaceAll:
			config["watchNamespace"] = targets[0]
		case len(targets) > 1:
			config["watchNamespaces"] = targets
		}
	}
	if c := in.Subscription.Spec.Config; c != nil {
		without := c.DeepCopy()
		without.Selector = nil
		config["deploymentConfig"] = without
	}
	if len(config) == 0 {
		return e, nil
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write spec.config.inline: %w", err)
	}
	e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline, Inline: &apiextensionsv1.JSON{Raw: text}}
	return e, nil
}
