package catalog

import "encoding/json"

// csvDescription is the value of an olm.csv.metadata as it is written. Readers compare such values with what other tools make of the
// same CSV, so what is left out when it is empty, and what is written all the same, is part of the format: an API or a resource always
// has its name, kind and version, a descriptor its path, and what is none of these fields is not there.
type csvDescription struct {
	Annotations           map[string]string                       `json:"annotations,omitempty"`
	APIServiceDefinitions ownedAndRequired[apiServiceDescription] `json:"apiServiceDefinitions"`
	CRDDescriptions       ownedAndRequired[crdDescription]        `json:"crdDescriptions"`
	Description           string                                  `json:"description,omitempty"`
	DisplayName           string                                  `json:"displayName,omitempty"`
	InstallModes          []describedInstallMode                  `json:"installModes,omitempty"`
	Keywords              []string                                `json:"keywords,omitempty"`
	Labels                map[string]string                       `json:"labels,omitempty"`
	Links                 []describedLink                         `json:"links,omitempty"`
	Maintainers           []describedMaintainer                   `json:"maintainers,omitempty"`
	Maturity              string                                  `json:"maturity,omitempty"`
	MinKubeVersion        string                                  `json:"minKubeVersion,omitempty"`
	NativeAPIs            []describedNativeAPI                    `json:"nativeAPIs,omitempty"`
	Provider              describedLink                           `json:"provider"`
}

type ownedAndRequired[T any] struct {
	Owned    []T `json:"owned,omitempty"`
	Required []T `json:"required,omitempty"`
}

type crdDescription struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	apiDetails
}

type apiServiceDescription struct {
	Name           string `json:"name"`
	Group          string `json:"group"`
	Version        string `json:"version"`
	Kind           string `json:"kind"`
	DeploymentName string `json:"deploymentName,omitempty"`
	ContainerPort  int32  `json:"containerPort,omitempty"`
	apiDetails
}

// apiDetails are what descriptions of both sorts of API may say.
type apiDetails struct {
	DisplayName       string              `json:"displayName,omitempty"`
	Description       string              `json:"description,omitempty"`
	Resources         []describedResource `json:"resources,omitempty"`
	StatusDescriptors []describedField    `json:"statusDescriptors,omitempty"`
	SpecDescriptors   []describedField    `json:"specDescriptors,omitempty"`
	ActionDescriptors []describedField    `json:"actionDescriptors,omitempty"`
}

type describedResource struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

type describedField struct {
	Path         string          `json:"path"`
	DisplayName  string          `json:"displayName,omitempty"`
	Description  string          `json:"description,omitempty"`
	XDescriptors []string        `json:"x-descriptors,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"`
}

type describedInstallMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

type describedLink struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

type describedMaintainer struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

type describedNativeAPI struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}
