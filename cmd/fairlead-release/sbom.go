package main

import (
	"debug/buildinfo"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// sbom is an SPDX 2.3 document.
type sbom struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []spdxPackage  `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	SPDXID           string        `json:"SPDXID"`
	Name             string        `json:"name"`
	VersionInfo      string        `json:"versionInfo,omitempty"`
	DownloadLocation string        `json:"downloadLocation"`
	FilesAnalyzed    bool          `json:"filesAnalyzed"`
	LicenseConcluded string        `json:"licenseConcluded"`
	LicenseDeclared  string        `json:"licenseDeclared"`
	CopyrightText    string        `json:"copyrightText"`
	PrimaryPurpose   string        `json:"primaryPackagePurpose,omitempty"`
	Checksums        []checksum    `json:"checksums,omitempty"`
	ExternalRefs     []externalRef `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	documentID  = "SPDXRef-DOCUMENT"
	noAssertion = "NOASSERTION"
)

// newSBOM lists the modules that are linked into a program, as the program itself records them, and the standard library.
func newSBOM(info *buildinfo.BuildInfo, name, platform, version, hex string, made time.Time) sbom {
	program := newPackage(info.Main.Path, version, "Program-"+name)
	program.Name, program.PrimaryPurpose, program.Checksums = name, "APPLICATION", []checksum{{"SHA256", hex}}
	document := sbom{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: documentID, Name: name + " " + version + " for " + platform,
		DocumentNamespace: "https://fairlead.dev/spdx/" + name + "/" + hex,
		CreationInfo:      creation{Created: made.UTC().Format(time.RFC3339), Creators: []string{"Tool: fairlead-release"}},
		Packages:          []spdxPackage{program},
		Relationships:     []relationship{{documentID, "DESCRIBES", program.SPDXID}},
	}
	modules := []*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		modules = append(modules, module)
	}
	for _, module := range modules {
		p := newPackage(module.Path, module.Version, "Module-"+module.Path+"-"+module.Version)
		p.PrimaryPurpose = "LIBRARY"
		document.Packages = append(document.Packages, p)
		document.Relationships = append(document.Relationships, relationship{program.SPDXID, "DEPENDS_ON", p.SPDXID})
	}
	return document
}

// newPackage is a Go module. Its licence is in its sources, and not asserted here.
func newPackage(path, version, id string) spdxPackage {
	p := spdxPackage{SPDXID: "SPDXRef-" + notInID.ReplaceAllString(id, "-"), Name: path, VersionInfo: version, DownloadLocation: noAssertion,
		LicenseConcluded: noAssertion, LicenseDeclared: noAssertion, CopyrightText: noAssertion}
	locator := "pkg:golang/" + path
	if version != "" {
		locator += "@" + url.PathEscape(version)
	}
	p.ExternalRefs = []externalRef{{"PACKAGE-MANAGER", "purl", locator}}
	return p
}

// notInID are the characters that an SPDX identifier may not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)
