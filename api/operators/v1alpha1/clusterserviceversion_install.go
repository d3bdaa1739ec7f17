package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// InstallStrategyNameDeployment is the only install strategy: the operator runs as Deployments.
const InstallStrategyNameDeployment = "deployment"

// NamedInstallStrategy is an install strategy and its details.
type NamedInstallStrategy struct {
	// strategy is the name of the strategy; only deployment is understood.
	StrategyName string `json:"strategy"`
	// spec is the detail of the deployment strategy.
	// +optional
	StrategySpec StrategyDetailsDeployment `json:"spec,omitzero"`
}

// StrategyDetailsDeployment lists the Deployments of an operator and the permissions they need.
type StrategyDetailsDeployment struct {
	// deployments run the operator.
	DeploymentSpecs []StrategyDeploymentSpec `json:"deployments"`
	// permissions are granted in the target namespaces.
	// +optional
	Permissions []StrategyDeploymentPermissions `json:"permissions,omitempty"`
	// clusterPermissions are granted in the whole cluster.
	// +optional
	ClusterPermissions []StrategyDeploymentPermissions `json:"clusterPermissions,omitempty"`
}

// StrategyDeploymentSpec is one Deployment of an operator.
type StrategyDeploymentSpec struct {
	// name is the name of the Deployment.
	Name string `json:"name"`
	// spec is the Deployment's spec.
	Spec appsv1.DeploymentSpec `json:"spec"`
	// label is set on the Deployment.
	// +optional
	Label map[string]string `json:"label,omitempty"`
}

// StrategyDeploymentPermissions are RBAC rules for one service account.
type StrategyDeploymentPermissions struct {
	// serviceAccountName gets the rules.
	ServiceAccountName string `json:"serviceAccountName"`
	// rules are granted to the service account.
	Rules []rbacv1.PolicyRule `json:"rules"`
}
