-- Since when a pause goes on, and its end in ms, 0 for none; nil where there is none, or once it is
-- over. Of '<since ms>[ <end ms, or 0>[ <who>\n<why>]]'.
local function pause_of(text, at)
  local since, to = string.match(text or '', '^(%d+) ?(%d*)')
  local ends = tonumber(to or '') or 0
  if since and (ends == 0 or at < ends) then
    return since, ends
  end
end
