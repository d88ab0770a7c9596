-- Numbers as text: integers without exponent, whatever their size.
local function int(n)
  return string.format('%.0f', n)
end

local function int_or_empty(n)
  return n and int(n) or ''
end
