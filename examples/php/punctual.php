#!/usr/bin/env php
<?php
// Adds jobs to Punctual, or works on them, by the command protocol.

declare(strict_types=1);

const USAGE = <<<'TEXT'
punctual.php add TOPIC ID DELAY_SECONDS BODY
punctual.php work TOPIC [TTR_SECONDS]

TEXT;
const POLL_SECONDS = 20;
const TRIES = 5;
const AFTER = [
    'delay' => 'It will be tried again.',
    'dead' => 'It is a dead letter.',
    'deleted' => 'It was cancelled.',
];

/** The scheduler said no, and why (code 400 to 499); or it did not answer, or could not (any other code). */
final class CommandFailed extends Exception {}

/** Sends a command and returns the answer. */
function command(string $name, array $fields): array
{
    $url = (getenv('PUNCTUAL_URL') ?: 'http://localhost:8080') . '/api/v1/command';
    $application = getenv('PUNCTUAL_APPLICATION') ?: 'default';
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: application/json',
        'content' => json_encode(['command' => $name, 'application' => $application] + $fields, JSON_THROW_ON_ERROR),
        'timeout' => POLL_SECONDS + 10,
        'ignore_errors' => true, // an error has a body that says why
    ]]);
    $answer = @file_get_contents($url, false, $context);
    $decoded = $answer === false ? null : json_decode($answer, true);
    if (($decoded['success'] ?? false) !== true) {
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        throw new CommandFailed("$url: " . ($decoded['error'] ?? 'no answer'), $status);
    }
    return $decoded;
}

/** Sends what came of a job, again if need be: lost, the work would be done twice. */
function report(string $name, array $fields): array
{
    for ($try = 1; ; $try++) {
        try {
            return command($name, $fields);
        } catch (CommandFailed $e) {
            if ($try === TRIES || intdiv($e->getCode(), 100) === 4) {
                throw $e;
            }
            fwrite(STDERR, "$name again in $try s: {$e->getMessage()}\n");
            sleep($try);
        }
    }
}

/** The work: replace it by yours. May come twice, so it must bear being repeated. */
function handle(string $body): void
{
    [$word, $rest] = explode(' ', $body, 2) + ['', ''];
    if ($word === 'sleep') {
        usleep((int) ((float) $rest * 1e6));
    } elseif ($word === 'fail') {
        throw new RuntimeException($rest);
    }
}

function workOn(array $job): void
{
    $mine = ['topic' => $job['topic'], 'id' => $job['id'], 'token' => $job['token']];
    echo "begin {$job['id']} {$job['attempt']} {$job['value']}\n";
    try {
        handle($job['value']);
    } catch (Throwable $e) {
        $outcome = report('nack', $mine + ['error' => $e->getMessage()])['value'];
        echo "failed {$job['id']}: {$e->getMessage()}. " . (AFTER[$outcome] ?? $outcome) . "\n";
        return;
    }
    report('finish', $mine);
    echo "done {$job['id']}\n";
}

function work(array $pop): never
{
    while (true) {
        try {
            // Comes back as soon as a job is due, or empty-handed after the timeout.
            $job = command('pop', $pop + ['timeout' => POLL_SECONDS]);
            if ($job['id'] !== null) {
                workOn($job);
            }
        } catch (CommandFailed $e) { // what was popped and not finished comes back after its TTR
            fwrite(STDERR, $e->getMessage() . "\n");
            sleep(1);
        }
    }
}

function fail(string $why): never
{
    fwrite(STDERR, $why);
    exit(1);
}

$words = array_slice($argv, 1);
try {
    match ([$words[0] ?? '', count($words)]) {
        ['add', 5] => command('add', [
            'topic' => $words[1], 'id' => $words[2], 'delay' => (float) $words[3], 'body' => $words[4],
        ]),
        ['work', 2] => work(['topic' => $words[1]]),
        ['work', 3] => work(['topic' => $words[1], 'TTR' => (float) $words[2]]),
        default => fail(USAGE),
    };
} catch (CommandFailed $e) {
    fail("not added: {$e->getMessage()}\n");
}
