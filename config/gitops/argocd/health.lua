-- The health of an object of Fairlead, for Argo CD. Its controller says it in the conditions Ready, Reconciling and Stalled, of which
-- Reconciling and Stalled are there only while they are True. The same script serves all kinds: docs/gitops.md.
local hs = { status = "Progressing", message = "no controller has observed it yet" }

if obj.metadata.deletionTimestamp ~= nil then
  hs.message = "it is being deleted"
  return hs
end
if obj.metadata.labels ~= nil and obj.metadata.labels["olm.copiedFrom"] ~= nil then
  hs.status = "Healthy"
  hs.message = "a copy: it shows that an operator of another namespace watches this one"
  return hs
end

local status = obj.status
if status == nil or status.conditions == nil or status.observedGeneration == nil then
  return hs
end
if status.observedGeneration ~= obj.metadata.generation then
  hs.message = "the latest spec is not observed yet"
  return hs
end

local ready, reconciling, stalled
for _, c in ipairs(status.conditions) do
  if c.type == "Ready" then ready = c end
  if c.type == "Reconciling" and c.status == "True" then reconciling = c end
  if c.type == "Stalled" and c.status == "True" then stalled = c end
end
if ready == nil then
  return hs
end
hs.message = (ready.reason or "") .. ": " .. (ready.message or "")
if stalled ~= nil then
  hs.status = "Degraded"
elseif ready.status == "True" and reconciling == nil then
  hs.status = "Healthy"
elseif reconciling == nil then
  hs.status = "Suspended" -- it waits for a person, such as for an approval
end
return hs
