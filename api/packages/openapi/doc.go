// Package openapi describes the packages.operators.coreos.com/v1 API and what it refers to, so that kubectl explain and the API
// server's own OpenAPI documents know it. It is generated from the Go types and their comments; nothing here is written by hand.
//
// After a change of a type of api/packages/v1 run go generate ./api/packages/openapi.
package openapi

//go:generate go run k8s.io/kube-openapi/cmd/openapi-gen --output-dir . --output-pkg fairlead.dev/fairlead/api/packages/openapi --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go --readonly-pkg k8s.io/apimachinery/pkg/apis/meta/v1 --readonly-pkg k8s.io/apimachinery/pkg/runtime --readonly-pkg k8s.io/apimachinery/pkg/version --go-header-file /dev/null --report-filename /dev/null fairlead.dev/fairlead/api/packages/v1 fairlead.dev/fairlead/api/operators/v1alpha1 k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version
