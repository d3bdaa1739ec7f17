package yamljson

// Limits bound what a document may cost.
type Limits struct {
	Bytes   int // of JSON appended for one document
	Depth   int // of nested lists and objects
	Aliases int // replaced by what they stand for
}

// Error says in which line of the document what is wrong.
type Error struct {
	Line    int // from 1
	Reason  string
	Written int // bytes of JSON that were written before
}

func (e *Error) Error() string { return e.Reason }

// Append appends the JSON of a document, which is null if it holds nothing but
// comments. The document must not contain the line "---" that separates
// documents. Errors are of type *Error.
func Append(dst, document []byte, limits Limits) ([]byte, error) {
	start := len(dst)
	if out, ok := appendBlocks(dst, document, limits.Depth); ok && len(out)-start <= limits.Bytes {
		return out, nil
	}
	return appendParsed(dst[:start], document, limits)
}

// maxNodes bounds the tree that the complete parser builds, about 200 bytes a
// node, before it is asked to build it.
const maxNodes = 1 << 20
