// Package yamljson turns a YAML document into JSON, the way Kubernetes reads
// YAML, and JSON into YAML.
//
// [Append] has two ways to the same result. Documents in the plain block style
// that tools write go through a single pass over the text (block.go); it gives
// up at the first thing that is not plainly that style, and the document then
// goes through a complete parser (node.go). A fuzz test holds the two against
// each other.
//
// Scalars mean what they mean to Kubernetes: yes, no, on and off are booleans,
// 0777 is octal, dates are strings, aliases and merge keys are resolved. Keys
// are always the text that is written. A key that occurs twice is passed on
// twice: the reader of the JSON decides.
//
// [AppendYAML] writes the plain block style that the single pass reads.
//
// What a document may cost is bounded by [Limits]; the package never reads
// more than the one document it is given. Start reading at Append.
package yamljson
