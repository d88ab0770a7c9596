--- @include lib/job

local any_successor, known

-- What deals with those that wait for the end of a job: '<due ms>\n<record>' under its id, or, of a
-- debounce, '+<ms from then>\n<record>'; the record is as submit gets it. Nil where the bucket has
-- none, unless it is wanted all the same. Made when it is needed: each function that a script makes
-- costs each of its calls some time.
local function successors(wanted)
  if any_successor == nil then
    any_successor = redis.call('HLEN', NEXT) > 0
    sound[NEXT] = true
  end
  any_successor = any_successor or wanted
  if known or not any_successor then
    return known
  end
  known = {}

  -- The text of one, or nil.
  function known.of(id)
    return redis.call('HGET', NEXT, id) or nil
  end

  function known.is_debounced(successor)
    return string.byte(successor or '') == 43
  end

  -- When one would be due if its time had come.
  function known.due(successor)
    local due = tonumber(string.match(successor, '^%+?(%d+)\n') or 0)
    return known.is_debounced(successor) and now + due or math.max(now, due)
  end

  function known.drop(id)
    if known.of(id) then
      remove(NEXT, id)
    end
  end

  -- Puts one in the place of a job, as a job that is accepted now; the version is that of the job
  -- that ended, 0 if nothing of it stays. Returns its due time, or nil if none waits.
  function known.succeed(id, version)
    local successor = known.of(id)
    if not successor then
      return nil
    end
    remove(NEXT, id)
    local record = string.match(successor, '^[^\n]*\n(.*)$')
    record = record and read_record(struct.pack('>I6', now) .. record)
    if not record then
      return nil
    end
    local due = known.due(successor)
    put(id, int(due), record.text, record.tags)
    count('submitted')
    if version > 0 then
      local tries = read_tries('')
      tries.version, tries.first_due = version + 1, due
      add(TRIES, id, write_tries(tries))
    end
    return due
  end

  return known
end
