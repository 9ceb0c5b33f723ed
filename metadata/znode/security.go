package znode

import (
	"fmt"
	"strings"
)

// ACLEntry is one entry of a resource's ACL, in Kafka's words.
type ACLEntry struct {
	Principal      string `json:"principal"`
	PermissionType string `json:"permissionType"`
	Operation      string `json:"operation"`
	Host           string `json:"host"`
}

// EncodeACL writes a resource's ACL, version 1.
func EncodeACL(entries []ACLEntry) []byte {
	if entries == nil {
		entries = []ACLEntry{}
	}
	return encode(struct {
		Version int        `json:"version"`
		ACLs    []ACLEntry `json:"acls"`
	}{1, entries})
}

// DecodeACL reads it. Only version 1 is known.
func DecodeACL(data []byte) ([]ACLEntry, error) {
	var doc struct {
		Version int        `json:"version"`
		ACLs    []ACLEntry `json:"acls"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.Version != 1 {
		return nil, fmt.Errorf("%w: ACL of version %d", ErrMalformed, doc.Version)
	}
	return doc.ACLs, nil
}

// ACLChange says whose ACL changed. ResourceType and PatternType are upper case.
type ACLChange struct {
	ResourceType string `json:"resourceType"`
	Name         string `json:"name"`
	PatternType  string `json:"patternType"`
}

const literal = "LITERAL"

// Encode writes it: text for a literal pattern, else a document of version 1.
func (c *ACLChange) Encode() []byte {
	if c.PatternType == literal {
		return []byte(c.ResourceType + ":" + c.Name)
	}
	return encode(struct {
		Version int `json:"version"`
		*ACLChange
	}{1, c})
}

// DecodeACLChange reads it; extended says which tree it stands in.
func DecodeACLChange(data []byte, extended bool) (*ACLChange, error) {
	if !extended {
		kind, name, ok := strings.Cut(string(data), ":")
		if !ok {
			return nil, fmt.Errorf("%w: ACL change %q", ErrMalformed, data)
		}
		return &ACLChange{kind, name, literal}, nil
	}
	var doc struct {
		Version int `json:"version"`
		ACLChange
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	if doc.Version != 1 || doc.PatternType == literal {
		return nil, fmt.Errorf("%w: ACL change %q", ErrMalformed, data)
	}
	return &doc.ACLChange, nil
}

// DelegationToken is what is kept of a token; its HMAC is computed.
type DelegationToken struct {
	Owner          string   `json:"owner"`
	TokenRequester string   `json:"tokenRequester"`
	Renewers       []string `json:"renewers"`
	IssueMs        int64    `json:"issueTimestamp"`
	MaxMs          int64    `json:"maxTimestamp"`
	ExpiryMs       int64    `json:"expiryTimestamp"`
	TokenID        string   `json:"tokenId"`
}

// Encode writes it, version 3.
func (t *DelegationToken) Encode() []byte {
	c := *t
	if c.Renewers == nil {
		c.Renewers = []string{}
	}
	return encode(struct {
		Version int `json:"version"`
		DelegationToken
	}{3, c})
}

// DecodeDelegationToken reads it. Before version 3 the owner requested it.
func DecodeDelegationToken(data []byte) (*DelegationToken, error) {
	var t DelegationToken
	if err := decode(data, &t); err != nil {
		return nil, err
	}
	if t.TokenID == "" || t.Owner == "" {
		return nil, fmt.Errorf("%w: a delegation token needs owner and tokenId", ErrMalformed)
	}
	if t.TokenRequester == "" {
		t.TokenRequester = t.Owner
	}
	return &t, nil
}
