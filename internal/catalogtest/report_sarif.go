package catalogtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// The part of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool              sarifTool         `json:"tool"`
		AutomationDetails sarifAutomation   `json:"automationDetails"`
		Invocations       []sarifInvocation `json:"invocations"`
		Results           []sarifResult     `json:"results"`
	}
	sarifAutomation struct {
		ID string `json:"id"`
	}
	sarifInvocation struct {
		Successful bool   `json:"executionSuccessful"`
		Start      string `json:"startTimeUtc"`
		End        string `json:"endTimeUtc"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string       `json:"id"`
		Name  string       `json:"name"`
		Short sarifText    `json:"shortDescription"`
		Full  sarifText    `json:"fullDescription"`
		Help  sarifText    `json:"help"`
		Level sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifLogical struct {
		Name      string `json:"name"`
		Qualified string `json:"fullyQualifiedName"`
		Kind      string `json:"kind"`
	}
)

// sarif is for code scanning: every finding at the bundle that the edge leads to.
func (r *Report) sarif(w io.Writer) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "fairlead catalog test", InformationURI: "https://fairlead.dev/docs/catalog-test"}},
		AutomationDetails: sarifAutomation{"fairlead-catalog-test/"},
		Invocations:       []sarifInvocation{{Successful: true, Start: r.Began.UTC().Format("2006-01-02T15:04:05.000Z"), End: r.Began.Add(r.Took).UTC().Format("2006-01-02T15:04:05.000Z")}},
		Results:           []sarifResult{}}
	rules := Rules()
	for _, h := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: string(h.Rule), Name: camel(h.Rule), Short: sarifText{sentence(h.Title)}, Full: sarifText{sentence(h.Meaning)},
			Help: sarifText{sentence(h.Remedy)}, Level: sarifDefault{level(h)}})
	}
	for _, s := range r.suites() {
		for _, result := range s.Results {
			for _, f := range result.Findings {
				i := slices.IndexFunc(rules, func(h RuleHelp) bool { return h.Rule == f.Rule })
				run.Results = append(run.Results, r.sarifResult(result, f, i))
			}
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func (r *Report) sarifResult(result Result, f Finding, rule int) sarifResult {
	e := result.Edge
	text := fmt.Sprintf("%s under %s: %s", e, result.API, f)
	if f.Remedy != "" {
		text += "; " + safetext.OneLine(f.Remedy)
	}
	location := sarifLocation{Logical: []sarifLogical{{Name: safetext.OneLine(e.To), Qualified: safetext.OneLine(e.Package + "/" + e.To), Kind: "resource"}}}
	if file := r.file(e); file != "" {
		location.Physical = &sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: file}).EscapedPath()}}
		if e.Position.Line > 0 {
			location.Physical.Region = &sarifRegion{e.Position.Line}
		}
	}
	return sarifResult{Rule: string(f.Rule), Index: rule, Level: level(help(f.Rule)), Message: sarifText{strings.NewReplacer("{", "{{", "}", "}}", "](", "] (").Replace(text)}, Locations: []sarifLocation{location},
		Fingerprints: map[string]string{"edge/v1": safetext.OneLine(strings.Join([]string{string(result.API), e.Package, e.From, e.To, string(f.Rule), f.Object}, " "))}}
}

// file is the file of the catalog that an edge is in, with slashes; empty where that is not known.
func (r *Report) file(e Edge) string {
	if e.Position.File == "" {
		return ""
	}
	return path.Join(filepath.ToSlash(r.Root), e.Position.File)
}

func level(h RuleHelp) string {
	if h.Advice {
		return "warning"
	}
	return "error"
}

// camel is the name of a rule in the form that SARIF asks for.
func camel(r Rule) string {
	var name strings.Builder
	for word := range strings.SplitSeq(string(r), "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }
