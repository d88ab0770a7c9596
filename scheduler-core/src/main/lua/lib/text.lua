-- Numbers as text: integers without exponent, whatever their size.
local function int(n)
  return string.format('%.0f', n)
end
