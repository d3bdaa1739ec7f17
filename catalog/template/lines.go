package template

import (
	"bytes"
	"strings"
)

// lineAt is the line of the file at an offset of the text.
func (d *document) lineAt(offset int) int {
	return d.line + bytes.Count(d.text[:min(max(offset, 0), len(d.text))], []byte("\n"))
}

// keyLine is the line of a key of the template; where it cannot be told, that
// of the template.
func (d *document) keyLine(key string) int {
	if d.isJSON {
		return d.lineAt(bytes.Index(d.text, []byte(`"`+key+`"`)))
	}
	i, _ := d.keyOffset(key)
	return d.lineAt(i)
}

// keyOffset finds a key of a YAML template at the left margin, and what
// follows its line. It returns -1 where there is no such line, as in flow style.
func (d *document) keyOffset(key string) (offset int, rest []byte) {
	margin := -1
	for start := 0; start < len(d.text); {
		line, after := cutLine(d.text[start:])
		if n := indent(line); n >= 0 {
			if margin < 0 {
				margin = n
			}
			name, _, found := strings.Cut(string(line[:min(len(line), len(key)+n+8)]), ":")
			if n == margin && found && strings.EqualFold(strings.Trim(name, ` "'`), key) {
				return start, after
			}
		}
		start = len(d.text) - len(after)
	}
	return -1, nil
}

// itemLines are the lines of the items of a list. Where they cannot be told
// apart, as in flow style, it is the line of the list.
func (d *document) itemLines(key string, items [][]byte) []int {
	var offsets []int
	if d.isJSON {
		offsets = d.jsonItems(key, items)
	} else if _, rest := d.keyOffset(key); rest != nil {
		offsets = blockItems(rest, len(d.text)-len(rest))
	}
	lines := make([]int, len(items))
	if len(offsets) != len(items) {
		line := d.keyLine(key)
		for i := range lines {
			lines[i] = line
		}
		return lines
	}
	line, seen := d.line, 0
	for i, offset := range offsets {
		line += bytes.Count(d.text[seen:offset], []byte("\n"))
		lines[i], seen = line, offset
	}
	return lines
}

// jsonItems finds items in the text that they are parts of.
func (d *document) jsonItems(key string, items [][]byte) []int {
	position := bytes.Index(d.text, d.field(key))
	offsets := make([]int, 0, len(items))
	for _, item := range items {
		// Between two items there is nothing that could look like one.
		next := bytes.Index(d.text[position:], item)
		if next < 0 {
			return nil
		}
		offsets = append(offsets, position+next)
		position += next + len(item)
	}
	return offsets
}

// blockItems finds the items of a YAML list in block style at the beginning of
// text, which begins at an offset. Whatever an item holds is further to the right than
// its dash.
func blockItems(text []byte, offset int) []int {
	var offsets []int
	margin := -1
	for len(text) > 0 {
		line, after := cutLine(text)
		if n := indent(line); n >= 0 {
			isItem := line[n] == '-' && (n+1 == len(line) || line[n+1] == ' ' || line[n+1] == '\t' || line[n+1] == '\r')
			if margin < 0 {
				margin = n
			}
			if n < margin || n == margin && !isItem {
				break
			}
			if n == margin {
				offsets = append(offsets, offset)
			}
		}
		offset += len(text) - len(after)
		text = after
	}
	return offsets
}

func cutLine(text []byte) (line, after []byte) {
	line, after, _ = bytes.Cut(text, []byte("\n"))
	return line, after
}

// indent is the number of spaces that a line begins with, -1 if it holds
// nothing or a comment.
func indent(line []byte) int {
	n := len(line) - len(bytes.TrimLeft(line, " "))
	if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || trimmed[0] == '#' {
		return -1
	}
	return n
}

// cursor finds the lines of texts that are looked for in the order in which
// they are written.
type cursor struct {
	d    *document
	line int
	rest []byte
}

// find moves to the next line that holds a text outside of a comment, and
// returns it. Where there is none, as when the text is written with escapes,
// it stays.
func (c *cursor) find(text string) int {
	rest := c.rest
	for line := c.line; len(rest) > 0; line++ {
		current, after := cutLine(rest)
		if bytes.Contains(current, []byte(text)) && !bytes.HasPrefix(bytes.TrimSpace(current), []byte("#")) {
			c.line, c.rest = line, rest
			return line
		}
		rest = after
	}
	return c.line
}
